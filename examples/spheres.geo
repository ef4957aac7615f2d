// Two conducting spheres of 1 and 2, their centres 5 apart; with the unit cm the references are
// C11 = 1.230518 pF, C22 = 2.431543 pF, C12 = -0.4945668 pF.
SetFactory("OpenCASCADE");
Sphere(1) = {0, 0, 0, 1};
Sphere(2) = {5, 0, 0, 2};
Physical Surface("small") = {1};
Physical Surface("large") = {2};
