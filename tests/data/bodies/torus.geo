// A thin torus: radius 10, its tube's 0.2.
SetFactory("OpenCASCADE");
Torus(1) = {0, 0, 0, 10, 0.2};
Physical Surface("torus") = {1};
