"use strict";
Bench.start();
