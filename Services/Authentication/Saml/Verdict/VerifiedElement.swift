/// An element that was digested by a verified signature, or decrypted from one.
///
/// It is never an element of the received tree: it stands in a tree that was parsed from the canonical octets
/// themselves (mvpd §2.3 step 17). Only the signature check makes one from nothing.
struct VerifiedElement {
    let element: XmlElement

    private init(_ element: XmlElement) { self.element = element }

    /// - Parameter digested: The root of the tree that was parsed from the digested octets.
    init(digested: ParsedDocument) { self.init(digested.root) }

    /// - Parameters:
    ///   - decrypted: The decrypted document.
    ///   - ciphertext: The verified element that held the ciphertext, and so vouches for it.
    init(decrypted: ParsedDocument, from ciphertext: VerifiedElement) { self.init(decrypted.root) }

    func firstChild(_ name: StaticString, in namespace: StaticString) -> VerifiedElement? {
        element.firstChild(name, in: namespace).map(VerifiedElement.init)
    }
}
