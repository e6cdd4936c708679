internal import Logging
internal import TextEncodings

/// Writes a document as XML 1.0. A member whose name is no name of XML is left out. The name may come from an MVPD or from an upstream, and must not
/// become markup.
package struct XMLWriter {
    package private(set) var bytes: [UInt8] = []
    private var leftOut = 0
    private static let logger = Logger(label: "gateway")

    package init() {}

    package static func write(_ document: Document) -> [UInt8] {
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
        // Without their names: they are somebody else's text.
        if writer.leftOut > 0 { logger.notice("xml.members_left_out", metadata: ["root": "\(document.root)", "members": "\(writer.leftOut)"]) }
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
        guard Self.isName(name) else {
            leftOut += 1
            return
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

    /// A name without a colon, which would need a namespace (Namespaces in XML 1.0 §3, `NCName`).
    static func isName(_ name: String) -> Bool {
        let isUsual = name.utf8.allSatisfy { octet in
            switch octet {
            case 0x61...0x7a, 0x41...0x5a, 0x5f, 0x30...0x39, 0x2d, 0x2e: true
            default: false
            }
        }
        guard let first = name.unicodeScalars.first, isStart(first) else { return false }
        return isUsual || name.unicodeScalars.allSatisfy { isStart($0) || isInner($0) }
    }

    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x41...0x5a, 0x5f, 0x61...0x7a, 0xc0...0xd6, 0xd8...0xf6, 0xf8...0x2ff, 0x370...0x37d, 0x37f...0x1fff, 0x200c...0x200d, 0x2070...0x218f,
            0x2c00...0x2fef, 0x3001...0xd7ff, 0xf900...0xfdcf, 0xfdf0...0xfffd, 0x10000...0xeffff:
            true
        default: false
        }
    }

    private static func isInner(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2d, 0x2e, 0x30...0x39, 0xb7, 0x300...0x36f, 0x203f...0x2040: true
        default: false
        }
    }

    /// Opens an element.
    /// - Parameter isRoot: True when the document begins with it.
    package mutating func begin(_ name: String, _ attributes: [(name: String, value: String)] = [], isRoot: Bool = false) {
        if isRoot { append(raw: #"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#) }
        append(raw: "<\(name)")
        for attribute in attributes {
            append(raw: " \(attribute.name)=\"")
            append(text: attribute.value)
            append(raw: "\"")
        }
        append(raw: ">")
    }

    package mutating func end(_ name: String) { append(raw: "</\(name)>") }

    /// An element that holds text alone.
    package mutating func element(_ name: String, _ text: String, _ attributes: [(name: String, value: String)] = []) {
        begin(name, attributes)
        append(text: text)
        end(name)
    }

    private mutating func append(raw: String) { bytes.append(contentsOf: raw.utf8) }

    private mutating func append(text: String) { MarkupEscapes.xmlDocument.append(text, to: &bytes) }
}
