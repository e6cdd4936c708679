/// Reads a `Response` of the XACML 2.0 context (mvpd §4.2).
///
/// An unknown element could be an obligation that is not understood, so the answer is refused.
public enum DecisionContext {
    /// The results of a bare answer, which only its connection authenticates.
    /// - Throws: The reason of the parse, or `xml.form` when it is no such response.
    public static func results(ofBare octets: [UInt8]) throws(SamlRejection) -> [DecisionResult] {
        let root: XmlElement
        do throws(XmlRejection) {
            root = try ParsedDocument.parse(octets).root
        } catch {
            throw error.rejection
        }
        guard root.isNamed("Response", in: Namespaces.decisionContext) else {
            throw SamlRejection(.root, "The root is not a Response of the XACML 2.0 context.")
        }
        return try results(of: root)
    }

    static func results(of response: XmlElement) throws(SamlRejection) -> [DecisionResult] {
        var results: [DecisionResult] = []
        for child in response.children {
            guard child.isNamed("Result", in: Namespaces.decisionContext) else {
                throw malformed("Response holds the element '\(child.localName.prefix(64))' beside results.")
            }
            results.append(try result(child))
        }
        guard !results.isEmpty else { throw malformed("The response has no result.") }
        return results
    }

    private static func result(_ element: XmlElement) throws(SamlRejection) -> DecisionResult {
        var decision: String?
        var result = DecisionResult(resourceIDs: element.attribute("ResourceId").map { [$0] } ?? [], decision: "")
        var seen = (status: false, obligations: false)
        for child in element.children {
            if child.isNamed("Decision", in: Namespaces.decisionContext), decision == nil {
                decision = try text(child)
            } else if child.isNamed("Status", in: Namespaces.decisionContext), !seen.status {
                seen.status = true
                result.statusMessage = try child.firstChild("StatusMessage", in: Namespaces.decisionContext).map(text)
            } else if child.isNamed("Obligations", in: Namespaces.decisionPolicy), !seen.obligations {
                seen.obligations = true
                result.obligations = try obligations(child)
            } else {
                throw malformed("Response/Result holds the element '\(child.localName.prefix(64))' twice or in a place where it is not known.")
            }
        }
        guard let decision else { throw malformed("Response/Result/Decision is missing.") }
        result.decision = decision
        return result
    }

    private static func obligations(_ list: XmlElement) throws(SamlRejection) -> [DecisionResult.Obligation] {
        var obligations: [DecisionResult.Obligation] = []
        for child in list.children {
            guard child.isNamed("Obligation", in: Namespaces.decisionPolicy), let identifier = child.attribute("ObligationId") else {
                throw malformed(
                    "Response/Result/Obligations holds the element '\(child.localName.prefix(64))', which is no Obligation with an ObligationId.")
            }
            obligations.append(.init(identifier: identifier, fulfillOn: child.attribute("FulfillOn"), assignments: try assignments(child)))
        }
        return obligations
    }

    private static func assignments(_ obligation: XmlElement) throws(SamlRejection) -> [DecisionResult.Assignment] {
        var assignments: [DecisionResult.Assignment] = []
        for child in obligation.children {
            guard child.isNamed("AttributeAssignment", in: Namespaces.decisionPolicy), let identifier = child.attribute("AttributeId") else {
                throw malformed(
                    "Response/Result/Obligations/Obligation holds the element '\(child.localName.prefix(64))', which is no AttributeAssignment with an AttributeId."
                )
            }
            assignments.append(.init(identifier, [try text(child)]))
        }
        return assignments
    }

    private static func text(_ element: XmlElement) throws(SamlRejection) -> String {
        guard let text = element.text else {
            throw malformed("The element '\(element.localName.prefix(64))', whose value is text, holds something else.")
        }
        return text
    }

    private static func malformed(_ explanation: String) -> SamlRejection { SamlRejection(.form, explanation) }
}
