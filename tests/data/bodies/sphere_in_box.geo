// A unit sphere in the middle of a box of side 20.
SetFactory("OpenCASCADE");
Box(1) = {-10, -10, -10, 20, 20, 20};
Physical Surface("box") = Boundary{ Volume{1}; };
Sphere(2) = {0, 0, 0, 1};
Physical Surface("sphere") = Boundary{ Volume{2}; };
