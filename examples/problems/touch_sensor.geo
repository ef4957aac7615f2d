// A touch sensor, in mm: a round pad between a board and a cover glass, and the tip of a finger on the
// glass. A quarter of it, between the mirrors x = 0 and y = 0; the plane z = 0 is the ground below
// the board.
SetFactory("OpenCASCADE");
pad = 5;       // radii
finger = 4;
edge = 12;     // of board and glass
board = 1;     // thicknesses
glass = 1.5;

// Surfaces of one height are made of rings, between circles about the z axis.
Point(1) = {edge, 0, 0};
Point(2) = {edge, 0, board};
Point(3) = {edge, 0, board + glass};
Point(4) = {0, 0, board};
Point(5) = {pad, 0, board};
Point(6) = {0, 0, board + glass};
Point(7) = {finger, 0, board + glass};
Line(1) = {1, 2};  // side of the board
Line(2) = {2, 3};  // side of the glass
Line(3) = {2, 5};  // between board and glass
Line(4) = {5, 4};  // the pad
Line(5) = {3, 7};  // top of the glass
Line(6) = {7, 6};  // the finger
For k In {1:6}
  before() = Surface{:};
  Extrude{ {0, 0, 1}, {0, 0, 0}, Pi/2 }{ Curve{k}; }
  new() = Surface{:};
  new() -= before();
  face~{k}() = new();
EndFor
Coherence;
MeshSize{ PointsOf{ Surface{face_1(), face_2(), face_3(), face_5()}; } } = 1.5;
MeshSize{ PointsOf{ Surface{face_4(), face_6()}; } } = 0.5;
Physical Surface("board side") = {face_1()};
Physical Surface("glass side") = {face_2()};
Physical Surface("between") = {face_3()};
Physical Surface("pad") = {face_4()};
Physical Surface("glass top") = {face_5()};
Physical Surface("finger") = {face_6()};
