// A sphere of 4 angstrom around the atoms of ion.pqr.
SetFactory("OpenCASCADE");
DefineConstant[ size = 0.8 ];
Sphere(1) = {0, 0, 0, 4};
Mesh.CharacteristicLengthMax = size;
Physical Surface("molecule") = Surface{:};
