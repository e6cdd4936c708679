/// Writes a document as XML 1.0.
struct XMLWriter {
    private(set) var bytes: [UInt8] = []

    static func write(_ document: Document) -> [UInt8] {
        var writer = XMLWriter()
        writer.append(raw: #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#)
        if let namespace = document.namespace {
            writer.append(raw: "<ns2:\(document.root) xmlns:ns2=\"")
            writer.append(text: namespace)
            writer.append(raw: "\">")
            writer.append(document.members)
            writer.append(raw: "</ns2:\(document.root)>")
        } else {
            writer.append(document.root, .object(document.members))
        }
        return writer.bytes
    }

    private mutating func append(_ members: [Document.Member]) {
        for member in members where member.only != .json { append(member.name, member.value) }
    }

    private mutating func append(_ name: String, _ value: Document.Value) {
        switch value {
        case .null, .json: return
        default: break
        }
        append(raw: "<\(name)>")
        switch value {
        case .text(let text): append(text: text)
        case .number(let number): append(raw: String(number))
        case .flag(let flag): append(raw: flag ? "true" : "false")
        case .null, .json: break
        case .object(let members): append(members)
        case .list(let values, let item): for value in values { append(item, value) }
        }
        append(raw: "</\(name)>")
    }

    /// Opens an element.
    /// - Parameter isRoot: Whether the document begins with it.
    mutating func begin(_ name: String, _ attributes: [(name: String, value: String)] = [], isRoot: Bool = false) {
        if isRoot { append(raw: #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#) }
        append(raw: "<\(name)")
        for attribute in attributes {
            append(raw: " \(attribute.name)=\"")
            append(text: attribute.value)
            append(raw: "\"")
        }
        append(raw: ">")
    }

    mutating func end(_ name: String) { append(raw: "</\(name)>") }

    /// An element that holds text alone.
    mutating func element(_ name: String, _ text: String, _ attributes: [(name: String, value: String)] = []) {
        begin(name, attributes)
        append(text: text)
        end(name)
    }

    private mutating func append(raw: String) { bytes.append(contentsOf: raw.utf8) }

    /// Escapes markup; a character that XML 1.0 cannot carry becomes U+FFFD, and a carriage return survives as a reference.
    private mutating func append(text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": append(raw: "&amp;")
            case "<": append(raw: "&lt;")
            case ">": append(raw: "&gt;")
            case "\"": append(raw: "&quot;")
            case "'": append(raw: "&apos;")
            case "\r": append(raw: "&#13;")
            case "\t", "\n": bytes.append(UInt8(scalar.value))
            case "\u{0}"..<" ", "\u{fffe}", "\u{ffff}": append(raw: "\u{fffd}")
            case _ where scalar.isASCII: bytes.append(UInt8(truncatingIfNeeded: scalar.value))
            default: if let encoded = UTF8.encode(scalar) { bytes.append(contentsOf: encoded) }
            }
        }
    }
}
