//! Tables of runs as Parquet files, which DuckDB, pandas and similar tools read without loading them
//! completely.
//!
//! The model: the lines of each run go into the columns of their tables. Lines collected for a table
//! are written as a row group, so that memory contains at most one group per table. A column without a
//! value for a line is null there. The compression is gzip, because the workspace already depends on it
//! and every reader supports it. Repeated words are dictionary-encoded.

use super::lines::Line;
use super::tables::{ColumnOf, EXPORT_TABLES, ExportTable, TableColumn};
use kurabe_core::record::RunRecord;
use parquet::basic::{Compression, ConvertedType, GzipLevel, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{Type, TypePtr};
use std::io::{self, Write};
use std::sync::Arc;

/// Number of lines per row group: enough for parallel readers, few enough to fit into memory.
const GROUP_LINES: usize = 1 << 16;

/// Tables of runs while they are written.
pub struct ParquetTables<W: Write + Send> {
    tables: Vec<(ExportTable, TableFile<W>)>,
}

impl<W: Write + Send> ParquetTables<W> {
    /// Starts the tables. `open` receives the name of each table and opens its file.
    ///
    /// # Errors
    /// As `open`, and if a file cannot be written.
    pub fn begin(mut open: impl FnMut(&str) -> io::Result<W>) -> io::Result<Self> {
        let begun = |table: ExportTable| {
            let file = TableFile::begin(&table, open(table.name)?)?;
            Ok((table, file))
        };
        Ok(Self { tables: EXPORT_TABLES.into_iter().map(begun).collect::<io::Result<_>>()? })
    }

    /// Adds a run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn add(&mut self, run: &RunRecord) -> io::Result<()> {
        for (table, file) in &mut self.tables {
            let mut written = Ok(());
            (table.lines)(run, &mut |line| {
                if written.is_ok() {
                    written = file.add(table, line);
                }
            });
            written?;
        }
        Ok(())
    }

    /// Ends the tables, and returns their files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn end(self) -> io::Result<Vec<W>> {
        self.tables.into_iter().map(|(_, file)| file.end()).collect()
    }
}

/// A table that is being written.
struct TableFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnValues>,
    lines: usize,
}

impl<W: Write + Send> TableFile<W> {
    fn begin(table: &ExportTable, out: W) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::GZIP(GzipLevel::default()))
            .set_created_by(format!("kurabe {}", env!("CARGO_PKG_VERSION")))
            .build();
        let file = SerializedFileWriter::new(out, schema(table).map_err(failed)?, Arc::new(properties))
            .map_err(failed)?;
        let columns = table.columns.iter().map(|column| ColumnValues::of(&column.1)).collect();
        Ok(Self { file, columns, lines: 0 })
    }

    fn add(&mut self, table: &ExportTable, line: &Line<'_>) -> io::Result<()> {
        for (column, values) in table.columns.iter().zip(&mut self.columns) {
            match (&column.1, values) {
                (ColumnOf::Words(words), ColumnValues::Words(values)) => {
                    values.push(words(line).map(|words| words.as_str().into()));
                }
                // The bits are reinterpreted: the column contains unsigned numbers.
                (ColumnOf::Whole(whole), ColumnValues::Whole(values)) => {
                    values.push(whole(line).map(|whole| whole as i64));
                }
                (ColumnOf::Number(number), ColumnValues::Number(values)) => {
                    values.push(number(line).filter(|number| number.is_finite()));
                }
                (ColumnOf::Flag(flag), ColumnValues::Flag(values)) => values.push(flag(line)),
                _ => unreachable!("values were made of the columns"),
            }
        }
        self.lines += 1;
        if self.lines == GROUP_LINES { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> io::Result<()> {
        self.lines = 0;
        let mut write = || {
            let mut group = self.file.next_row_group()?;
            for values in &mut self.columns {
                match values {
                    ColumnValues::Words(values) => values.write::<ByteArrayType, _>(&mut group)?,
                    ColumnValues::Whole(values) => values.write::<Int64Type, _>(&mut group)?,
                    ColumnValues::Number(values) => values.write::<DoubleType, _>(&mut group)?,
                    ColumnValues::Flag(values) => values.write::<BoolType, _>(&mut group)?,
                }
            }
            group.close().map(|_| ())
        };
        write().map_err(failed)
    }

    fn end(mut self) -> io::Result<W> {
        if self.lines > 0 {
            self.write_group()?;
        }
        self.file.into_inner().map_err(failed)
    }
}

/// Values of a column that are not written yet.
enum ColumnValues {
    Words(Nullable<ByteArray>),
    Whole(Nullable<i64>),
    Number(Nullable<f64>),
    Flag(Nullable<bool>),
}

impl ColumnValues {
    fn of(column: &ColumnOf) -> Self {
        match column {
            ColumnOf::Words(_) => Self::Words(Nullable::default()),
            ColumnOf::Whole(_) => Self::Whole(Nullable::default()),
            ColumnOf::Number(_) => Self::Number(Nullable::default()),
            ColumnOf::Flag(_) => Self::Flag(Nullable::default()),
        }
    }
}

/// The present values, and for each line whether it has one: 1 or 0.
#[derive(Default)]
struct Nullable<T> {
    values: Vec<T>,
    levels: Vec<i16>,
}

impl<T> Nullable<T> {
    fn push(&mut self, value: Option<T>) {
        self.levels.push(value.is_some().into());
        self.values.extend(value);
    }

    fn write<D: DataType<T = T>, W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let column = group.next_column()?;
        let mut column = column.ok_or_else(|| ParquetError::General("a column too many".to_owned()))?;
        column.typed::<D>().write_batch(&self.values, Some(&self.levels), None)?;
        self.values.clear();
        self.levels.clear();
        column.close()
    }
}

fn schema(table: &ExportTable) -> Result<TypePtr, ParquetError> {
    let field = |column: &TableColumn| {
        let (physical, converted) = match column.1 {
            ColumnOf::Words(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            ColumnOf::Whole(_) => (Physical::INT64, ConvertedType::UINT_64),
            ColumnOf::Number(_) => (Physical::DOUBLE, ConvertedType::NONE),
            ColumnOf::Flag(_) => (Physical::BOOLEAN, ConvertedType::NONE),
        };
        Type::primitive_type_builder(column.0, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_converted_type(converted)
            .build()
            .map(Arc::new)
    };
    let fields = table.columns.iter().map(field).collect::<Result<_, _>>()?;
    Type::group_type_builder(table.name).with_fields(fields).build().map(Arc::new)
}

/// Returns the file's own error, if it is the cause.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => {
            error.downcast::<io::Error>().map_or_else(io::Error::other, |error| *error)
        }
        error => io::Error::other(error),
    }
}
