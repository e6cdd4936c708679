internal import Octets
internal import COpenSSL

/// Runs an encoder of libcrypto on a growing buffer.
func writeBytes(_ operation: String, _ write: (OpaquePointer?) -> Int32) throws(CryptographyError) -> [UInt8] {
    let buffer = BIO_new(BIO_s_mem())
    defer { BIO_free(buffer) }
    guard write(buffer) == 1 else { throw .last(operation) }
    var count = 0
    let bytes = boxoffice_bio_bytes(buffer, &count)
    return Array(UnsafeBufferPointer(start: bytes, count: count))
}

/// Runs a parser of libcrypto on bytes.
func withReadBuffer<Result>(_ bytes: [UInt8], _ parse: (OpaquePointer?) -> Result) -> Result {
    bytes.withUnsafeBytes { content in
        let buffer = BIO_new_mem_buf(content.baseAddress, Int32(content.count))
        defer { BIO_free(buffer) }
        return parse(buffer)
    }
}
