// Two wires of radius 1 and length 100, their axes 5 apart.
SetFactory("OpenCASCADE");
Cylinder(1) = {0, 0, 0, 0, 0, 100, 1};
Cylinder(2) = {5, 0, 0, 0, 0, 100, 1};
Physical Surface("left") = Boundary{ Volume{1}; };
Physical Surface("right") = Boundary{ Volume{2}; };
