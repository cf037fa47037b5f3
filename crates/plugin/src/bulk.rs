//! Bulk operations on memory in pieces.
//!
//! wasmtime counts an operation such as `memory.fill` as one instruction, whatever its length: a loop of them would keep
//! the host busy for minutes within the limit of an event. The operations therefore become calls of two functions that
//! work in pieces, each of which counts.

use wasm_encoder::reencode::{self, Reencode};
use wasm_encoder::{BlockType, CodeSection, Function, FunctionSection, Instruction as I, Module, TypeSection, ValType};
use wasmparser::{CodeSectionReader, FunctionSectionReader, Operator, Parser, TypeSectionReader};

/// The bytes of a piece.
const PIECE: i32 = 4096;
/// More than a memory has.
const TOO_MANY: i32 = 1 << 28;

/// A reader of a module that replaces its bulk operations.
struct Pieces {
    /// The type of the two functions.
    of_type: u32,
    /// The first of them.
    first: u32,
}

/// A valid module without imports, with bulk operations in pieces.
pub(crate) fn in_pieces(module: &[u8]) -> Result<Vec<u8>, String> {
    let mut pieces = Pieces { of_type: 0, first: 0 };
    let mut out = Module::new();
    pieces.parse_core_module(&mut out, Parser::new(0), module).map_err(|error| error.to_string())?;
    Ok(out.finish())
}

type Result_<T> = Result<T, reencode::Error<std::convert::Infallible>>;

impl Reencode for Pieces {
    type Error = std::convert::Infallible;

    fn parse_type_section(&mut self, types: &mut TypeSection, section: TypeSectionReader<'_>) -> Result_<()> {
        reencode::utils::parse_type_section(self, types, section)?;
        self.of_type = types.len();
        types.ty().function([ValType::I32; 3], []);
        Ok(())
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result_<()> {
        reencode::utils::parse_function_section(self, functions, section)?;
        self.first = functions.len();
        functions.function(self.of_type).function(self.of_type);
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Result_<()> {
        reencode::utils::parse_code_section(self, code, section)?;
        code.function(&fill()).function(&copy());
        Ok(())
    }

    fn instruction<'a>(&mut self, operator: Operator<'a>) -> Result_<I<'a>> {
        match operator {
            Operator::MemoryFill { .. } => Ok(I::Call(self.first)),
            Operator::MemoryCopy { .. } => Ok(I::Call(self.first + 1)),
            other => reencode::utils::instruction(self, other),
        }
    }
}

/// The parameters of both functions.
const TO: u32 = 0;
const FROM: u32 = 1;
const LENGTH: u32 = 2;

/// `(to, value, length)`: fills the memory.
fn fill() -> Function {
    let mut body = Function::new([]);
    body.instruction(&I::Loop(BlockType::Empty));
    for instruction in [I::LocalGet(LENGTH), I::I32Const(PIECE), I::I32GtU, I::If(BlockType::Empty)] {
        body.instruction(&instruction);
    }
    for instruction in [I::LocalGet(TO), I::LocalGet(FROM), I::I32Const(PIECE), I::MemoryFill(0)] {
        body.instruction(&instruction);
    }
    step(&mut body, TO, I::I32Add);
    step(&mut body, LENGTH, I::I32Sub);
    body.instruction(&I::Br(1)).instruction(&I::End).instruction(&I::End);
    for instruction in [I::LocalGet(TO), I::LocalGet(FROM), I::LocalGet(LENGTH), I::MemoryFill(0), I::End] {
        body.instruction(&instruction);
    }
    body
}

/// `(to, from, length)`: copies memory that may overlap, from the side that keeps it whole.
fn copy() -> Function {
    let mut body = Function::new([]);
    for instruction in [I::LocalGet(LENGTH), I::I32Const(TOO_MANY), I::I32GtU, I::If(BlockType::Empty)] {
        body.instruction(&instruction);
    }
    body.instruction(&I::Unreachable).instruction(&I::End);
    for instruction in [I::LocalGet(TO), I::LocalGet(FROM), I::I32LeU, I::If(BlockType::Empty)] {
        body.instruction(&instruction);
    }
    body.instruction(&I::Loop(BlockType::Empty));
    for instruction in [I::LocalGet(LENGTH), I::I32Const(PIECE), I::I32GtU, I::If(BlockType::Empty)] {
        body.instruction(&instruction);
    }
    for instruction in [I::LocalGet(TO), I::LocalGet(FROM), I::I32Const(PIECE), COPY] {
        body.instruction(&instruction);
    }
    step(&mut body, TO, I::I32Add);
    step(&mut body, FROM, I::I32Add);
    step(&mut body, LENGTH, I::I32Sub);
    body.instruction(&I::Br(1)).instruction(&I::End).instruction(&I::End);
    body.instruction(&I::Else);
    body.instruction(&I::Loop(BlockType::Empty));
    for instruction in [I::LocalGet(LENGTH), I::I32Const(PIECE), I::I32GtU, I::If(BlockType::Empty)] {
        body.instruction(&instruction);
    }
    step(&mut body, LENGTH, I::I32Sub);
    for place in [TO, FROM] {
        for instruction in [I::LocalGet(place), I::LocalGet(LENGTH), I::I32Add] {
            body.instruction(&instruction);
        }
    }
    body.instruction(&I::I32Const(PIECE)).instruction(&COPY);
    body.instruction(&I::Br(1)).instruction(&I::End).instruction(&I::End).instruction(&I::End);
    for instruction in [I::LocalGet(TO), I::LocalGet(FROM), I::LocalGet(LENGTH), COPY, I::End] {
        body.instruction(&instruction);
    }
    body
}

const COPY: I<'static> = I::MemoryCopy { src_mem: 0, dst_mem: 0 };

/// Moves a local by a piece.
fn step(body: &mut Function, local: u32, by: I<'_>) {
    body.instruction(&I::LocalGet(local))
        .instruction(&I::I32Const(PIECE))
        .instruction(&by)
        .instruction(&I::LocalSet(local));
}
