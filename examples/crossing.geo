// Two buses of three wires each that cross over a ground plane; with --unit um these are wires of a
// chip, 1 wide and 0.5 thick. Names: a1, a2, a3 below, b1, b2, b3 above, and ground.
SetFactory("OpenCASCADE");
For i In {1 : 3}
  Box(i) = {2 * i - 2, -2, 0, 1, 9, 0.5};
  Box(3 + i) = {-2, 2 * i - 2, 1.5, 9, 1, 0.5};
EndFor
Box(7) = {-3, -3, -1.2, 11, 11, 0.2};
For i In {1 : 3}
  a() = Boundary{ Volume{i}; };
  Physical Surface(Sprintf("a%g", i)) = a();
  b() = Boundary{ Volume{3 + i}; };
  Physical Surface(Sprintf("b%g", i)) = b();
EndFor
ground() = Boundary{ Volume{7}; };
Physical Surface("ground") = ground();
