/// The parts of a `ds:Signature` that decide whether it may be verified at all.
///
/// It is read with the same parser, from the same tree and in the same order as xmlsec reads it afterwards.
struct SignatureDescription {
    private let signature: XmlElement
    private let signedInfo: XmlElement?
    private let references: [XmlElement]

    init(_ signature: XmlElement) {
        self.signature = signature
        let first = signature.children.first { _ in true }
        signedInfo = first.flatMap { $0.isNamed("SignedInfo", in: Namespaces.signature) ? $0 : nil }
        references = signedInfo?.children("Reference", in: Namespaces.signature) ?? []
    }

    /// No check covers the content of `ds:Object` or the references of `ds:Manifest`.
    var holdsObject: Bool {
        signature.children.contains { $0.isNamed("Object", in: Namespaces.signature) }
            || references.contains { $0.attribute("Type")?.hasSuffix("#Manifest") == true }
    }

    /// True when the only reference names the element by its ID, and by nothing else.
    func refersOnly(to parent: XmlElement) -> Bool {
        guard references.count == 1, let id = parent.attribute("ID"), let uri = references[0].attribute("URI") else { return false }
        return uri == "#" + id
    }

    /// Enveloped signature, then exclusive canonicalization without comments, nothing else.
    var hasAllowedTransforms: Bool {
        guard let canonicalization = signedInfo?.firstChild("CanonicalizationMethod", in: Namespaces.signature),
            Self.isExclusiveCanonicalization(canonicalization),
            let transforms = references.first?.children("Transforms", in: Namespaces.signature), transforms.count == 1
        else { return false }
        let steps = Array(transforms[0].children)
        guard steps.count == 2, steps.allSatisfy({ $0.isNamed("Transform", in: Namespaces.signature) }) else { return false }
        return Self.isBareMethod(steps[0]) && steps[0].attribute("Algorithm", is: Namespaces.envelopedSignature)
            && Self.isExclusiveCanonicalization(steps[1])
    }

    /// In octets. The library looks up every listed prefix at every element.
    private static let longestPrefixList = 256

    private static func isExclusiveCanonicalization(_ method: XmlElement) -> Bool {
        let parameters = Array(method.children)
        return method.attribute("Algorithm", is: Namespaces.exclusiveCanonicalization) && parameters.count <= 1
            && parameters.allSatisfy {
                $0.isNamed("InclusiveNamespaces", in: Namespaces.exclusiveCanonicalization)
                    && $0.attribute("PrefixList")?.utf8.count ?? 0 <= longestPrefixList
            }
    }

    private static func isBareMethod(_ method: XmlElement) -> Bool { method.children.first { _ in true } == nil }

    /// Nil when unknown, or given parameters.
    var algorithm: SignatureAlgorithm? {
        guard let method = signedInfo?.firstChild("SignatureMethod", in: Namespaces.signature), Self.isBareMethod(method) else { return nil }
        return method.attribute("Algorithm").flatMap(SignatureAlgorithm.init(rawValue:))
    }

    var digest: DigestAlgorithm? {
        guard let method = references.first?.firstChild("DigestMethod", in: Namespaces.signature), Self.isBareMethod(method) else { return nil }
        return method.attribute("Algorithm").flatMap(DigestAlgorithm.init(rawValue:))
    }
}
