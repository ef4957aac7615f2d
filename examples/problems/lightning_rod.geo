// A lightning rod on the ground, in m: half of a slender ellipsoid, of which a quarter is meshed
// between the mirrors x = 0 and y = 0. The plane z = 0 is the ground.
SetFactory("OpenCASCADE");
height = 2;
radius = 0.1;  // at its foot
Ellipse(1) = {0, 0, 0, height, radius, 0, Pi/2};
Rotate{ {0, 1, 0}, {0, 0, 0}, -Pi/2 }{ Curve{1}; }
Rotate{ {0, 0, 1}, {0, 0, 0}, -Pi/2 }{ Curve{1}; }
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{1}; }
ReverseMesh Surface {:};  // normals out of the rod
Physical Surface("rod") = Surface{:};
