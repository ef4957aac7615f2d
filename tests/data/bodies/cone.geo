// A cone of height 10 on a disk of radius 3.
SetFactory("OpenCASCADE");
Cone(1) = {0, 0, 0, 0, 0, 10, 3, 0};
Physical Surface("cone") = Boundary{ Volume{1}; };
