internal import Foundation

/// Undoes raw DEFLATE with Python's zlib.
public enum Inflater {
    /// The text inside base64 of raw DEFLATE.
    public static func inflated(_ base64: String) throws -> String {
        let program = "import base64, sys, zlib; sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.argv[1], validate=True), -15))"
        return String(decoding: try Tool.run("python3", ["-c", program, base64]), as: UTF8.self)
    }
}
