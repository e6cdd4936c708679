#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif
internal import CXmlSec

/// An element of a parsed document, trusted or not.
struct XmlElement {
    let pointer: OpaquePointer
    let document: ParsedDocument

    func isNamed(_ name: StaticString, in namespace: StaticString) -> Bool { Self.isNamed(pointer, name, in: namespace) }

    /// The same of an element of a document that is kept alive otherwise.
    static func isNamed(_ pointer: OpaquePointer, _ name: StaticString, in namespace: StaticString) -> Bool {
        cxs_local_name(pointer).equals(name) && cxs_namespace(pointer).equals(namespace)
    }

    /// Without prefix.
    var localName: String { cxs_local_name(pointer).map { String(cString: $0) } ?? "" }

    /// Empty when it is in none.
    var namespace: String { cxs_namespace(pointer).map { String(cString: $0) } ?? "" }

    /// True when both are the same element of the same tree.
    func isSame(as other: XmlElement) -> Bool { pointer == other.pointer }

    var children: Children { Children(parent: self) }

    func children(_ name: StaticString, in namespace: StaticString) -> [XmlElement] {
        children.filter { $0.isNamed(name, in: namespace) }
    }

    func firstChild(_ name: StaticString, in namespace: StaticString) -> XmlElement? {
        children.first { $0.isNamed(name, in: namespace) }
    }

    /// The value of the attribute in no namespace; nil when there is none.
    func attribute(_ name: StaticString) -> String? {
        cxs_attribute(pointer, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)).map { String(cString: $0) }
    }

    /// True for the same octets.
    func attribute(_ name: StaticString, equals value: String) -> Bool {
        guard let text = cxs_attribute(pointer, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)) else { return false }
        let octets = UnsafeRawBufferPointer(start: text, count: strlen(text))
        return octets.count == value.utf8.count && octets.elementsEqual(value.utf8)
    }

    /// The same for a static text, without a copy of the value.
    func attribute(_ name: StaticString, is value: StaticString) -> Bool {
        cxs_attribute(pointer, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)).equals(value)
    }

    /// The text content without leading and trailing XML white space; nil when the element holds anything beside text.
    var text: String? {
        guard let text = cxs_text(pointer) else { return nil }
        return String(decoding: UnsafeBufferPointer(start: text, count: strlen(text)).trimmed, as: UTF8.self)
    }

    /// The attributes that look like an identifier, in any spelling and namespace.
    static func forEachIdentifier(of pointer: OpaquePointer, _ body: (_ value: String, _ isID: Bool) -> Void) {
        var cursor: UnsafeRawPointer?
        var value: UnsafePointer<CChar>?
        var isPlain: Int32 = 0
        while cxs_next_identifier(pointer, &cursor, &value, &isPlain) != 0 {
            body(value.map { String(cString: $0) } ?? "", isPlain != 0)
        }
    }
}

extension XmlElement {
    /// The child elements, in document order.
    struct Children: Sequence, IteratorProtocol {
        private var upcoming: OpaquePointer?
        private let document: ParsedDocument

        fileprivate init(parent: XmlElement) {
            upcoming = cxs_first_element(parent.pointer)
            document = parent.document
        }

        mutating func next() -> XmlElement? {
            guard let current = upcoming else { return nil }
            upcoming = cxs_next_element(current)
            return XmlElement(pointer: current, document: document)
        }
    }
}

extension Optional<UnsafePointer<CChar>> {
    /// True for the same text as the literal; its storage ends with a NUL.
    fileprivate func equals(_ literal: StaticString) -> Bool {
        guard let self else { return false }
        return strcmp(self, UnsafeRawPointer(literal.utf8Start).assumingMemoryBound(to: CChar.self)) == 0
    }
}

extension UnsafeBufferPointer<CChar> {
    /// Without the four characters of XML white space at both ends.
    fileprivate var trimmed: UnsafeRawBufferPointer {
        func isSpace(_ character: CChar) -> Bool { character == 0x20 || character == 0x09 || character == 0x0A || character == 0x0D }
        let start = firstIndex { !isSpace($0) } ?? endIndex
        let end = lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
        return UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: self[start..<end]))
    }
}

/// Owner of a parsed tree. Its elements keep it alive; all of them stay on the thread that parsed it.
final class ParsedDocument {
    let pointer: OpaquePointer

    /// Takes over a document of the C library.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { cxs_document_free(pointer) }

    /// The hardened parse of mvpd §6, of a message that is only read.
    static func parse(_ octets: [UInt8]) throws(XmlRejection) -> ParsedDocument {
        var pointer: OpaquePointer?
        let status = cxs_parse_to_read(octets, octets.count, &pointer)
        guard let pointer else { throw XmlRejection(status) }
        return ParsedDocument(pointer)
    }

    /// The same of a list of records, which may have ten times as many nodes.
    static func parseList(_ octets: [UInt8]) throws(XmlRejection) -> ParsedDocument {
        var pointer: OpaquePointer?
        let status = cxs_parse_list(octets, octets.count, &pointer)
        guard let pointer else { throw XmlRejection(status) }
        return ParsedDocument(pointer)
    }

    /// The same of metadata, which people edit by hand: comments and processing instructions are read over.
    static func parseMetadata(_ octets: [UInt8]) throws(XmlRejection) -> ParsedDocument {
        var pointer: OpaquePointer?
        let status = cxs_parse_metadata(octets, octets.count, &pointer)
        guard let pointer else { throw XmlRejection(status) }
        return ParsedDocument(pointer)
    }

    var root: XmlElement { XmlElement(pointer: cxs_document_root(pointer), document: self) }
}

/// Octets are not a document that may be read, for one of these reasons.
enum XmlRejection: Error {
    case doctype
    case form
    case limit
    case unusable

    init(_ status: cxs_parse_status) {
        switch status {
        case CXS_HAS_DOCTYPE: self = .doctype
        case CXS_OVER_LIMIT: self = .limit
        case CXS_NO_MEMORY: self = .unusable
        default: self = .form
        }
    }

    var rejection: SamlRejection {
        switch self {
        case .doctype: SamlRejection(.doctype, "The document has a document type declaration.")
        case .form: SamlRejection(.form, "The document is not plain well-formed UTF-8 XML.")
        case .limit: SamlRejection(.limit, "The document is too deep, or has too many elements, attributes or namespaces.")
        case .unusable: SamlRejection(.unusable, "The XML library has no memory or cannot be used.")
        }
    }
}
