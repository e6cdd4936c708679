internal import CXmlSec

/// Owner of a parsed tree. Its elements keep it alive; all of them stay on the thread that parsed it.
final class ParsedDocument {
    let pointer: OpaquePointer

    /// Takes over a document of the C library.
    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { cxs_document_free(pointer) }

    /// The hardened parse of mvpd §6, of a message that is only read.
    static func parse(_ octets: [UInt8]) throws(ParseFailure) -> ParsedDocument {
        var pointer: OpaquePointer?
        let status = cxs_parse_to_read(octets, octets.count, &pointer)
        guard let pointer else { throw ParseFailure(status) }
        return ParsedDocument(pointer)
    }

    /// The same of a list of records, which may have ten times as many nodes.
    static func parseList(_ octets: [UInt8]) throws(ParseFailure) -> ParsedDocument {
        var pointer: OpaquePointer?
        let status = cxs_parse_list(octets, octets.count, &pointer)
        guard let pointer else { throw ParseFailure(status) }
        return ParsedDocument(pointer)
    }

    /// The same of metadata, which people edit by hand: comments and processing instructions are read over.
    static func parseMetadata(_ octets: [UInt8]) throws(ParseFailure) -> ParsedDocument {
        var pointer: OpaquePointer?
        let status = cxs_parse_metadata(octets, octets.count, &pointer)
        guard let pointer else { throw ParseFailure(status) }
        return ParsedDocument(pointer)
    }

    var root: XmlElement { XmlElement(pointer: cxs_document_root(pointer), document: self) }
}
