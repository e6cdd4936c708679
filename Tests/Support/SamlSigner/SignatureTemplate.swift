/// An empty `ds:Signature`, with every part open to change.
public struct SignatureTemplate: Sendable {
    public static let exclusiveCanonicalization = "http://www.w3.org/2001/10/xml-exc-c14n#"
    public static let enveloped = "<ds:Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/>"

    public var method = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
    public var digest = "http://www.w3.org/2001/04/xmlenc#sha256"
    public var canonicalization = Self.exclusiveCanonicalization
    /// The content of `Transforms`.
    public var transforms = enveloped + "<ds:Transform Algorithm=\"\(exclusiveCanonicalization)\"/>"
    /// Nil: the parent's ID; an empty list: no reference.
    public var uris: [String]?
    /// The content after the signature value.
    public var tail = ""

    public init() {}

    /// The element, to be put inside the one with that ID.
    public func xml(over id: String) -> String {
        let references = (uris ?? ["#\(id)"]).map { uri in
            """
            <ds:Reference URI="\(uri)"><ds:Transforms>\(transforms)</ds:Transforms><ds:DigestMethod Algorithm="\(digest)"/><ds:DigestValue/>\
            </ds:Reference>
            """
        }
        return """
            <ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:SignedInfo><ds:CanonicalizationMethod Algorithm="\(canonicalization)"/>\
            <ds:SignatureMethod Algorithm="\(method)"/>\(references.joined())</ds:SignedInfo><ds:SignatureValue/>\(tail)</ds:Signature>
            """
    }
}
