import Foundation

/// Requests as the load program reads them.
struct RequestFile {
    private var bytes = Data()

    /// In its place the load program puts the Base64 of nine digits, other ones with each request.
    static let mark = "QEBAQEBAQEBA"

    /// - Parameter headers: Beside `Host`, the device's address and, with a body, its length and type.
    mutating func add(_ method: String, _ target: String, headers: [(String, String)] = [], form: String? = nil, json: String? = nil) {
        // The load program puts an address of its own into each request that it sends.
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1", "X-Forwarded-For: 150.100.100.100"]
        lines += headers.map { "\($0): \($1)" }
        if let form { lines += ["Content-Type: application/x-www-form-urlencoded", "Content-Length: \(form.utf8.count)"] }
        if let json { lines += ["Content-Type: application/json", "Content-Length: \(json.utf8.count)"] }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n" + (form ?? json ?? "")
        withUnsafeBytes(of: UInt32(text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text.utf8)
    }

    func write(to file: URL) throws { try bytes.write(to: file) }
}
