//! Collision and contact between level-set bodies, one pass per frame.
