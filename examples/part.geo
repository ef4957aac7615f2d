// A machined part in CAD: a base plate and a wall with drilled holes, a rib and a boss, 80 x 60 x 50.
// Other sizes: Gmsh's -clmax, or fmbem's --mesh-size.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 80, 60, 8};
Box(2) = {0, 0, 0, 8, 60, 50};
Wedge(3) = {8, 26, 8, 30, 8, 30, 0};
Cylinder(4) = {55, 30, 0, 0, 0, 20, 12};
BooleanUnion(5) = { Volume{1}; Delete; }{ Volume{2:4}; Delete; };
Cylinder(6) = {55, 30, -1, 0, 0, 30, 7};
For k In {0:3}
  Cylinder(10 + k) = {20 + 50 * (k % 2), 10 + 40 * Floor(k / 2), -1, 0, 0, 10, 3};
EndFor
For k In {0:1}
  Cylinder(20 + k) = {-1, 12 + 36 * k, 38, 10, 0, 0, 5};
EndFor
BooleanDifference(30) = { Volume{5}; Delete; }{ Volume{6, 10:13, 20:21}; Delete; };
Physical Surface("part") = Boundary{ Volume{30}; };
