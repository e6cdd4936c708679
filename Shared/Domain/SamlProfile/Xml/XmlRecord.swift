/// A stranger's XML document as plain values: names, texts and children, without attributes and namespaces. It is parsed as strictly as a list of records.
public struct XmlRecord: Hashable, Sendable {
    /// Octets; a longer document is refused.
    public static let largest = 4 * 1024 * 1024

    /// The problem that keeps octets from being such a document; goes on from their name.
    public struct Rejection: Error, Hashable, Sendable {
        public let message: String
    }

    /// Without prefix.
    public let name: String
    /// Without white space at both ends; empty where the element holds other elements.
    public let text: String
    public let children: [XmlRecord]

    /// - Parameter octets: The whole document, in UTF-8, with or without a byte order mark.
    /// - Throws: A `Rejection` for what is too long, no UTF-8, has a document type declaration, or is not well-formed.
    public init(document octets: [UInt8]) throws(Rejection) {
        guard octets.count <= Self.largest else { throw Rejection(message: "has more than \(Self.largest) bytes") }
        guard let text = String(validating: octets, as: UTF8.self) else { throw Rejection(message: "is not UTF-8 text") }
        do throws(XmlRejection) {
            self.init(try ParsedDocument.parseList(XmlDeclaration.withoutEncoding(text)).root)
        } catch {
            throw Rejection(message: "cannot be read: \(error.rejection.explanation)")
        }
    }

    /// The parser bounds how deep elements are nested.
    private init(_ element: XmlElement) {
        name = element.localName
        text = element.text ?? ""
        children = element.children.map { XmlRecord($0) }
    }
}
