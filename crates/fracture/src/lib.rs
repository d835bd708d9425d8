//! Fracture of level-set bodies by prescored space (Su09 section 4).
