internal import Foundation

/// Undoes and does raw DEFLATE with Python's zlib.
public enum Inflater {
    /// Base64 of raw DEFLATE of the text.
    public static func deflated(_ text: String) throws -> String {
        let program = """
            import base64, sys, zlib; c = zlib.compressobj(9, zlib.DEFLATED, -15)
            print(base64.b64encode(c.compress(sys.argv[1].encode()) + c.flush()).decode(), end="")
            """
        return String(decoding: try Tool.run("python3", ["-c", program, text]), as: UTF8.self)
    }

    /// The text inside base64 of raw DEFLATE.
    public static func inflated(_ base64: String) throws -> String {
        let program = "import base64, sys, zlib; sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.argv[1], validate=True), -15))"
        return String(decoding: try Tool.run("python3", ["-c", program, base64]), as: UTF8.self)
    }
}
