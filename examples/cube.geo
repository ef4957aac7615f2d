// The unit cube as one conductor. Its capacitance is 0.66067815 in 4 pi eps0 m.
// The charge density is singular on the edges, so the mesh is graded towards them.
// Other sizes: fmbem's --set n=24 --set bump=0.1
DefineConstant[
  n = 16,      // intervals on an edge: 12 n^2 triangles
  bump = 0.1   // length of the intervals at an edge's ends over that of those in its middle
];

Point(1) = {0, 0, 0};
Point(2) = {1, 0, 0};
Point(3) = {1, 1, 0};
Point(4) = {0, 1, 0};
For k In {1:4}
  Line(k) = {k, k % 4 + 1};
EndFor
Curve Loop(1) = {1:4};
Plane Surface(1) = {1};
volume[] = Extrude {0, 0, 1} { Surface{1}; };

Transfinite Curve "*" = n + 1 Using Bump bump;
Transfinite Surface "*" Alternate;
ReverseMesh Surface {1};  // all normals point outwards
Physical Surface("cube") = Surface{:};
