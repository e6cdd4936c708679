internal import CXmlSec

/// The position of the elements that matter in a received document (mvpd §2.3 steps 7 to 9), found in one walk.
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
    private var ids: Set<OctetText> = []
    private var otherIdentifiers: [String] = []

    init(of root: XmlElement) {
        visit(root.pointer, parent: nil, in: root.document)
        if otherIdentifiers.contains(where: ids.contains) { identifiersAreSound = false }
    }

    /// Walks by address: nearly all elements are none that matter. The document lives as long as the walk.
    private mutating func visit(_ node: OpaquePointer, parent: OpaquePointer?, in document: ParsedDocument) {
        note(identifiersOf: node)
        if XmlElement.isNamed(node, "Assertion", in: Namespaces.assertion) || XmlElement.isNamed(node, "EncryptedAssertion", in: Namespaces.assertion)
        {
            let parent = parent.map { XmlElement(pointer: $0, document: document) }
            assertions.append((XmlElement(pointer: node, document: document), parent))
        } else if XmlElement.isNamed(node, "Signature", in: Namespaces.signature), let parent {
            signatures.append(
                PlacedSignature(
                    signature: XmlElement(pointer: node, document: document), parent: XmlElement(pointer: parent, document: document)))
        } else if XmlElement.isNamed(node, "EncryptedID", in: Namespaces.assertion)
            || XmlElement.isNamed(node, "EncryptedAttribute", in: Namespaces.assertion)
            || XmlElement.isNamed(node, "NewEncryptedID", in: Namespaces.protocol)
        {
            holdsOtherCiphertext = true
        }
        var child = cxs_first_element(node)
        while let current = child {
            visit(current, parent: node, in: document)
            child = cxs_next_element(current)
        }
    }

    private mutating func note(identifiersOf node: OpaquePointer) {
        XmlElement.forEachIdentifier(of: node) { value, isID in
            if !isID {
                otherIdentifiers.append(value)
            } else if !NCName.matches(value) || !ids.insert(value).inserted {
                identifiersAreSound = false
            }
        }
    }
}
