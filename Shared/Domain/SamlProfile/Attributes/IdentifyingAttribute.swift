/// The attribute that names the person in place of the NameID (mvpd §2.3 step 32).
enum IdentifyingAttribute: Hashable {
    /// The same of all its values, however often they are sent: as text, or as a `NameID` element, as eduPersonTargetedID has it.
    case value(String)
    case absent
    case empty
    /// Different ones.
    case several
    /// An element that is none.
    case structured

    init(_ name: String, in assertion: XmlElement) {
        var isThere = false
        var texts: Set<OctetText> = []
        var qualifiers: Set<[OctetText?]> = []
        for statement in assertion.children("AttributeStatement", in: Namespaces.assertion) {
            for attribute in statement.children("Attribute", in: Namespaces.assertion) where attribute.attribute("Name", equals: name) {
                isThere = true
                for value in attribute.children("AttributeValue", in: Namespaces.assertion) {
                    guard let text = value.textOrNameID else {
                        self = .structured
                        return
                    }
                    texts.insert(OctetText(text))
                    // Without the qualifiers it is not the same name (SAML core §8.3.7).
                    if let nameID = value.onlyNameID {
                        qualifiers.insert(
                            [nameID.attribute("NameQualifier"), nameID.attribute("SPNameQualifier")].map { $0.map { OctetText($0) } })
                    }
                }
            }
        }
        if !isThere {
            self = .absent
        } else if texts.count > 1 || qualifiers.count > 1 {
            self = .several
        } else if let text = texts.first?.text, !text.isEmpty {
            self = .value(text)
        } else {
            self = .empty
        }
    }
}

extension XmlElement {
    /// The `NameID` that is all that an attribute's value holds.
    var onlyNameID: XmlElement? {
        let children = Array(children.prefix(2))
        return children.count == 1 && children[0].isNamed("NameID", in: Namespaces.assertion) ? children[0] : nil
    }

    /// The text of an attribute's value, or of the `NameID` in it; nil when it holds another element.
    var textOrNameID: String? { text ?? onlyNameID?.text }
}
