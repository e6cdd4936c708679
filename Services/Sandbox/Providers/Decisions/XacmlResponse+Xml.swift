/// The same answer in the XACML 2.0 context (mvpd §4.2).
extension XacmlResponse {
    var xml: XmlNode {
        .element("xc:Response", ["xmlns:xc": XmlNames.decisionContext], results.map(Self.node))
    }

    private static func node(_ result: Result) -> XmlNode {
        let resource = result.category?.first?.attributes.first.map { text($0.value) }
        var children: [XmlNode] = [.element("xc:Decision", [:], [.text(result.decision.rawValue)])]
        let message = result.status.message.map { XmlNode.element("xc:StatusMessage", [:], [.text($0)]) }
        children.append(
            .element("xc:Status", [:], [.element("xc:StatusCode", ["Value": result.status.code.value])] + (message.map { [$0] } ?? [])))
        if let obligations = result.obligations, !obligations.isEmpty {
            let effect = result.decision == .permit ? "Permit" : "Deny"
            children.append(.element("xp:Obligations", ["xmlns:xp": XmlNames.decisionPolicy], obligations.map { node($0, effect) }))
        }
        return .element("xc:Result", ["ResourceId": resource], children)
    }

    private static func node(_ obligation: Obligation, _ effect: String) -> XmlNode {
        .element(
            "xp:Obligation", ["ObligationId": obligation.identifier, "FulfillOn": obligation.fulfillOn ?? effect],
            (obligation.assignments ?? []).map { assignment in
                .element(
                    "xp:AttributeAssignment", ["AttributeId": assignment.identifier, "DataType": assignment.type], [.text(text(assignment.value))])
            })
    }

    private static func text(_ value: Attribute.Value) -> String {
        switch value {
        case .text(let text): text
        case .number(let number): String(number)
        }
    }
}
