// An electrostatic lens of two coaxial tubes at opposite voltages, in mm: a quarter of the upper one. The
// plane z = 0 between them is at 0 V, x = 0 and y = 0 are mirrors.
SetFactory("OpenCASCADE");
radius = 10;
half_gap = 0.5;
length = 40;
Point(1) = {radius, 0, half_gap};
Point(2) = {radius, 0, length};
Line(1) = {1, 2};
Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{1}; }
Mesh.MeshSizeFromPoints = 1;
MeshSize{ 1, 3 } = 0.35;
Physical Surface("tube") = Surface{:};
