/// An element that was digested by a verified signature, or decrypted from one.
///
/// It is never an element of the received tree. It is in a tree that was parsed from the canonical octets themselves (mvpd §2.3 step 17), or the
/// whole document was signed. Only the signature checks make one from nothing.
struct VerifiedElement {
    let element: XmlElement

    private init(_ element: XmlElement) { self.element = element }

    /// - Parameter digested: The root of the tree that was parsed from the digested octets.
    init(digested: ParsedDocument) { self.init(digested.root) }

    /// - Parameters:
    ///   - decrypted: The decrypted document.
    ///   - ciphertext: The verified element that held the ciphertext.
    init(decrypted: ParsedDocument, from ciphertext: VerifiedElement) { self.init(decrypted.root) }

    /// - Parameter signedWhole: A document with a signature over all of its octets, outside of it (SAML bindings §3.4.4.1).
    init(signedWhole document: ParsedDocument) { self.init(document.root) }

    func firstChild(_ name: StaticString, in namespace: StaticString) -> VerifiedElement? {
        element.firstChild(name, in: namespace).map(VerifiedElement.init)
    }
}
