// A wire of radius 1 and length 20 within a pipe with an inner radius of 2.5.
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 20, 0, 0, 1};
Physical Surface("inner") = Boundary{ Volume{1}; };
Cylinder(2) = {-2, 0, 0, 24, 0, 0, 3};
Cylinder(3) = {-2, 0, 0, 24, 0, 0, 2.5};
BooleanDifference(4) = { Volume{2}; Delete; }{ Volume{3}; Delete; };
Physical Surface("outer") = Boundary{ Volume{4}; };
