internal import SandboxKit
internal import FoundationEssentials

/// An answer in the XACML 3.0 JSON profile (mvpd §4.2): always a list of results.
struct XacmlResponse: Sendable, Codable, Equatable {
    enum Decision: String, Sendable, Codable {
        case permit = "Permit"
        case deny = "Deny"
        case notApplicable = "NotApplicable"
        case indeterminate = "Indeterminate"
    }

    struct Result: Sendable, Codable, Equatable {
        var decision: Decision
        var status: Status
        var obligations: [Obligation]?
        var category: [Category]?

        enum CodingKeys: String, CodingKey {
            case decision = "Decision"
            case status = "Status"
            case obligations = "Obligations"
            case category = "Category"
        }
    }

    struct Status: Sendable, Codable, Equatable {
        struct Code: Sendable, Codable, Equatable {
            let value: String

            enum CodingKeys: String, CodingKey { case value = "Value" }
        }

        let code: Code
        let message: String?

        init(_ code: String, message: String? = nil) {
            self.code = Code(value: code)
            self.message = message
        }

        enum CodingKeys: String, CodingKey {
            case code = "StatusCode"
            case message = "StatusMessage"
        }
    }

    struct Obligation: Sendable, Codable, Equatable {
        let identifier: String
        let assignments: [Attribute]?
        /// nil: the decision that it comes with.
        var fulfillOn: String?

        enum CodingKeys: String, CodingKey {
            case identifier = "Id"
            case assignments = "AttributeAssignment"
            case fulfillOn = "FulfillOn"
        }
    }

    struct Category: Sendable, Codable, Equatable {
        let identifier: String
        let attributes: [Attribute]

        enum CodingKeys: String, CodingKey {
            case identifier = "CategoryId"
            case attributes = "Attribute"
        }
    }

    struct Attribute: Sendable, Codable, Equatable {
        enum Value: Sendable, Codable, Equatable {
            case text(String)
            case number(Int)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if let number = try? container.decode(Int.self) { self = .number(number) } else { self = .text(try container.decode(String.self)) }
            }

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .text(let text): try container.encode(text)
                case .number(let number): try container.encode(number)
                }
            }
        }

        let identifier: String
        let value: Value
        let type: String

        init(_ identifier: String, _ value: Value) {
            self.identifier = identifier
            self.value = value
            type = if case .number = value { XacmlNames.integer } else { XacmlNames.string }
        }

        enum CodingKeys: String, CodingKey {
            case identifier = "AttributeId"
            case value = "Value"
            case type = "DataType"
        }
    }

    var results: [Result]

    enum CodingKeys: String, CodingKey { case results = "Response" }

    func serialized() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}

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
