// A sphere of 4 angstrom around the atoms of ion.pqr.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 4};
Physical Surface("molecule") = Surface{:};
