//! Rows of SWE-bench as Parquet, the form in which data sets are published.

use std::fs::File;

use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use camino::Utf8Path;
use serde_json::Value;

use super::{FormatError, Read, rows};

/// Reads all rows of a file.
pub fn read(path: &Utf8Path) -> Result<Read, FormatError> {
    let wrong = |place: String, message: String| FormatError::Row { place, message };
    let file = File::open(path).map_err(FormatError::io(path))?;
    let reader = SerializedFileReader::new(file)
        .map_err(|error| wrong(path.to_string(), error.to_string()))?;
    let all = reader
        .get_row_iter(None)
        .map_err(|error| wrong(path.to_string(), error.to_string()))?;
    let mut out = Read::default();
    for (number, row) in all.enumerate() {
        let wrong = |message: String| wrong(format!("{path}, row {}", number + 1), message);
        let row = row.map_err(|error| wrong(error.to_string()))?;
        let Value::Object(row) = row.to_json_value() else {
            return Err(wrong("is no record".into()));
        };
        match rows::instance(&row).map_err(wrong)? {
            Ok(instance) => out.instances.push(instance),
            Err(unsupported) => out.unsupported.push(unsupported),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::data_type::{ByteArray, ByteArrayType};
    use ::parquet::file::properties::WriterProperties;
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;

    use super::*;

    #[test]
    fn rows_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path())
            .unwrap()
            .join("test.parquet");
        let columns = [
            ("instance_id", "o__r-1"),
            ("repo", "o/r"),
            ("base_commit", "abcdef1"),
            ("test_patch", "diff"),
            ("FAIL_TO_PASS", "[\"t.py::test_a\"]"),
        ];
        let fields: String = columns
            .iter()
            .map(|(name, _)| format!("required binary {name} (UTF8);"))
            .collect();
        let schema = Arc::new(parse_message_type(&format!("message row {{ {fields} }}")).unwrap());
        let properties = Arc::new(WriterProperties::builder().build());
        let file = File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        for (_, value) in columns {
            let mut column = group.next_column().unwrap().unwrap();
            let typed = column.typed::<ByteArrayType>();
            typed
                .write_batch(&[ByteArray::from(value)], None, None)
                .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        writer.close().unwrap();
        let read = super::super::read(&path).unwrap();
        assert_eq!(read.instances[0].fail_to_pass, ["t.py::test_a"]);
    }
}
