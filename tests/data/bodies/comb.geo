// Two combs of four fingers each, 1 wide and 1 apart.
SetFactory("OpenCASCADE");
For i In {0:7}
  Box(10 + i) = {2 * i, (i % 2) * 3, 0, 1, 40, 1};
EndFor
Box(1) = {0, -2, 0, 13, 2, 1};
Box(2) = {2, 43, 0, 13, 2, 1};
BooleanUnion(100) = { Volume{1}; Delete; }{ Volume{10, 12, 14, 16}; Delete; };
BooleanUnion(101) = { Volume{2}; Delete; }{ Volume{11, 13, 15, 17}; Delete; };
Physical Surface("first") = Boundary{ Volume{100}; };
Physical Surface("second") = Boundary{ Volume{101}; };
