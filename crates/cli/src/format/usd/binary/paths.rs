//! The tree of paths.

use std::collections::BTreeMap;

/// Paths by index, each with the last component of its name.
#[derive(Default)]
pub(super) struct Paths {
    numbers: BTreeMap<String, u32>,
    nodes: Vec<Node>,
}

struct Node {
    /// Token index of its last component, negated for a property; 0 for the root, which has none.
    token: i32,
    children: Vec<u32>,
}

impl Paths {
    /// The index of a path such as `/World/ball.points`; `token` returns component indices from 1.
    pub(super) fn number(&mut self, path: &str, token: &mut dyn FnMut(&str) -> u32) -> u32 {
        if let Some(number) = self.numbers.get(path) {
            return *number;
        }
        // names of prims are identifiers, without periods
        let property = path.split_once('.');
        let (parent, own) = match (property, path.rsplit_once('/')) {
            (Some((prim, name)), _) => (Some(prim), -(token(name) as i32)),
            (None, Some(("", name))) if !name.is_empty() => (Some("/"), token(name) as i32),
            (None, Some((parent, name))) if !name.is_empty() => (Some(parent), token(name) as i32),
            _ => (None, 0),
        };
        let parent = parent.map(|parent| self.number(parent, &mut *token));
        let number = self.nodes.len() as u32;
        self.nodes.push(Node { token: own, children: Vec::new() });
        if let Some(parent) = parent {
            self.nodes[parent as usize].children.push(number);
        }
        self.numbers.insert(path.to_owned(), number);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All paths in depth-first order: the index of each path, its token and its jump. The jump of
    /// a path with children and a next sibling is the number of entries to that sibling. It is 0
    /// without children, -1 without a next sibling, and -2 without both.
    pub(super) fn tree(&self) -> Vec<[i32; 3]> {
        let mut tree = Vec::with_capacity(self.nodes.len());
        if !self.nodes.is_empty() {
            self.add(0, false, &mut tree);
        }
        tree
    }

    fn add(&self, number: u32, has_sibling: bool, tree: &mut Vec<[i32; 3]>) {
        const ONLY_CHILDREN: i32 = -1;
        const LEAF: i32 = -2;
        let Node { token, children } = &self.nodes[number as usize];
        let own = tree.len();
        tree.push([number as i32, *token, LEAF]);
        for (n, child) in children.iter().enumerate() {
            self.add(*child, n + 1 < children.len(), tree);
        }
        tree[own][2] = match (has_sibling, children.is_empty()) {
            (true, true) => 0,
            (true, false) => (tree.len() - own) as i32,
            (false, false) => ONLY_CHILDREN,
            (false, true) => LEAF,
        };
    }
}
