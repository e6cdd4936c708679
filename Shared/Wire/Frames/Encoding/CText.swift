internal import CProtobufC

/// Reads the text fields of a C struct that lies in an arena.
enum CText {
    /// The bytes of a text as they came, neither checked for UTF-8 nor cut at a NUL.
    static func bytes(_ text: UnsafeMutablePointer<CChar>?) -> UnsafeRawBufferPointer {
        guard let text, boxoffice_is_absent_string(text) == 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: text, count: boxoffice_arena_size(text) - 1)
    }

    /// The text; `nil` when it is not UTF-8 or holds a NUL.
    static func string(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The bytes of a bytes field.
    static func bytes(_ field: ProtobufCBinaryData) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: field.data, count: field.len)
    }
}
