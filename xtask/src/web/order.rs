//! The order of the functions of a module.
//!
//! The window of gzip is 32 KiB. Instances of one generic function are similar, but linkers scatter them. Sorting by
//! name makes them adjacent, and the compressed module a sixteenth smaller.

use std::collections::BTreeMap;

use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    BinaryReaderError, CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader,
    KnownCustom, Name, Parser, Payload,
};

/// The module with its functions in the order of their names, and without names.
pub(super) fn by_name(module: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |problem: &dyn std::fmt::Display| format!("the module: {problem}");
    let names = names(module).map_err(|e| failed(&e))?;
    let mut order: Vec<u32> = (0..names.count).collect();
    order.sort_by_key(|number| (names.paths.get(number), *number));
    let mut places = vec![0; order.len()];
    (0..).zip(&order).for_each(|(place, number)| places[*number as usize] = place);
    let mut ordered = Module::new();
    Order { order, places }
        .parse_core_module(&mut ordered, Parser::new(0), module)
        .map_err(|e| failed(&e))?;
    Ok(ordered.finish())
}

/// The number of functions, and the paths of named functions.
struct Names {
    count: u32,
    paths: BTreeMap<u32, String>,
}

fn names(module: &[u8]) -> Result<Names, BinaryReaderError> {
    let mut names = Names { count: 0, paths: BTreeMap::new() };
    for payload in Parser::new(0).parse_all(module) {
        match payload? {
            Payload::FunctionSection(section) => names.count = section.count(),
            Payload::CustomSection(section) => {
                let KnownCustom::Name(known) = section.as_known() else { continue };
                for part in known {
                    let Name::Function(functions) = part? else { continue };
                    for function in functions {
                        let function = function?;
                        names.paths.insert(function.index, path(function.name));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(names)
}

/// The path in a mangled name, without the lengths of its parts and the final hash.
fn path(mangled: &str) -> String {
    let Some(mut rest) = mangled.strip_prefix("_ZN") else { return mangled.to_owned() };
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|n| *n > 0) {
        let (length, after) = rest.split_at(digits);
        let Some((part, after)) = length.parse().ok().and_then(|n| after.split_at_checked(n))
        else {
            break;
        };
        parts.push(part);
        rest = after;
    }
    parts.pop();
    parts.join("::")
}

/// Writes a module with its functions in another order. The module imports no functions.
struct Order {
    /// Numbers of functions in the new order.
    order: Vec<u32>,
    /// The new number of each function.
    places: Vec<u32>,
}

impl Reencode for Order {
    type Error = std::convert::Infallible;

    fn function_index(&mut self, number: u32) -> Result<u32, Error<Self::Error>> {
        Ok(self.places[number as usize])
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let kinds: Vec<u32> = section.into_iter().collect::<Result<_, _>>()?;
        for number in &self.order {
            functions.function(kinds[*number as usize]);
        }
        Ok(())
    }

    fn parse_code_section(
        &mut self,
        code: &mut CodeSection,
        section: CodeSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        let bodies: Vec<FunctionBody<'_>> = section.into_iter().collect::<Result<_, _>>()?;
        for place in 0..self.order.len() {
            self.parse_function_body(code, bodies[self.order[place] as usize].clone())?;
        }
        Ok(())
    }

    fn parse_custom_section(
        &mut self,
        _: &mut Module,
        _: CustomSectionReader<'_>,
    ) -> Result<(), Error<Self::Error>> {
        Ok(())
    }
}
