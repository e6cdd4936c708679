/// What stands where in a received document (mvpd §2.3 steps 7 to 9), found in one walk.
struct DocumentSurvey {
    /// A signature and the element that holds it.
    struct PlacedSignature {
        let signature: XmlElement
        let parent: XmlElement
    }

    private(set) var assertions: [(element: XmlElement, parent: XmlElement?)] = []
    private(set) var signatures: [PlacedSignature] = []
    private(set) var holdsOtherCiphertext = false
    private(set) var identifiersAreSound = true
    private var ids: Set<String> = []
    private var otherIdentifiers: [String] = []

    init(of root: XmlElement) {
        visit(root, parent: nil)
        if otherIdentifiers.contains(where: ids.contains) { identifiersAreSound = false }
    }

    private mutating func visit(_ element: XmlElement, parent: XmlElement?) {
        note(identifiersOf: element)
        if element.isNamed("Assertion", in: Namespaces.assertion) || element.isNamed("EncryptedAssertion", in: Namespaces.assertion) {
            assertions.append((element, parent))
        } else if element.isNamed("Signature", in: Namespaces.signature), let parent {
            signatures.append(PlacedSignature(signature: element, parent: parent))
        } else if element.isNamed("EncryptedID", in: Namespaces.assertion)
            || element.isNamed("EncryptedAttribute", in: Namespaces.assertion) || element.isNamed("NewEncryptedID", in: Namespaces.protocol)
        {
            holdsOtherCiphertext = true
        }
        for child in element.children { visit(child, parent: element) }
    }

    private mutating func note(identifiersOf element: XmlElement) {
        element.forEachIdentifier { value, isID in
            if !isID {
                otherIdentifiers.append(value)
            } else if !NCName.matches(value) || !ids.insert(value).inserted {
                identifiersAreSound = false
            }
        }
    }
}
