// A via of radius 0.5 through a hole of radius 1.2 in a plane, 20 x 20 x 0.5.
SetFactory("OpenCASCADE");
Box(1) = {-10, -10, 0, 20, 20, 0.5};
Cylinder(2) = {0, 0, -1, 0, 0, 3, 1.2};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(4) = {0, 0, -5, 0, 0, 10, 0.5};
Physical Surface("plane") = Boundary{ Volume{3}; };
Physical Surface("via") = Boundary{ Volume{4}; };
