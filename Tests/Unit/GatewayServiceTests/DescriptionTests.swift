internal import Doubles
internal import Foundation
@testable import GatewayEdge
@testable import GatewayPublicApi
internal import Hummingbird
internal import StrictJson
internal import Testing

/// The OpenAPI description, and whether it is one of this gateway.
@Suite struct DescriptionTests {
    /// Methods that OpenAPI has names for.
    private static let methods: Set<String> = ["get", "head", "post", "put", "delete", "patch", "options", "trace"]

    private let document: [String: Any]
    private let paths: [String: [String: Any]]

    init() throws {
        let content = try Data(contentsOf: URL(filePath: TestGateway.pages).appending(path: "openapi.json"))
        document = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
        paths = try #require(document["paths"] as? [String: [String: Any]])
    }

    @Test("clients #58: every route and method is described, and nothing else")
    func everyRouteAndMethodIsDescribedAndNothingElse() throws {
        // Pages of the console are for people: Shared/Documents/Operations/Console.md describes them.
        let routes = try TestGateway().routes().filter { if case .console = $0.audience { false } else { true } }
        var real: Set<String> = []
        for route in routes {
            let served = Route.knownMethods.filter { $0 == .options || route.handler(for: $0) != nil }
            let names = served.map { $0.rawValue.lowercased() }
            // The description has no word for a capture of several segments.
            let path = route.path.replacingOccurrences(of: "*}", with: "}")
            real.formUnion(names.filter(Self.methods.contains).map { "\($0) \(path)" })
        }
        var described: Set<String> = []
        for (path, item) in paths { described.formUnion(item.keys.filter(Self.methods.contains).map { "\($0) \(path)" }) }
        #expect(real.subtracting(described).sorted() == [], "routes that the description does not have")
        #expect(described.subtracting(real).sorted() == [], "described, but there is no such route")
    }

    @Test("HEAD is described as its GET: the same parameters, security and statuses, and no content")
    func headIsDescribedAsGet() throws {
        let components = try #require(document["components"] as? [String: Any])
        let shared = try #require(components["responses"] as? [String: [String: Any]])
        func text(_ member: String, of operation: [String: Any]) throws -> String {
            let content = try JSONSerialization.data(withJSONObject: operation[member] ?? [Any](), options: .sortedKeys)
            return String(decoding: content, as: UTF8.self)
        }
        var looked = 0
        for (path, item) in paths {
            guard let head = item["head"] as? [String: Any], let get = item["get"] as? [String: Any] else { continue }
            looked += 1
            for member in ["parameters", "security"] { #expect(try text(member, of: head) == text(member, of: get), "\(path)") }
            let answers = try #require(head["responses"] as? [String: [String: Any]])
            #expect(Set(answers.keys) == Set(try #require(get["responses"] as? [String: Any]).keys), "\(path)")
            for (status, answer) in answers {
                let name = (answer["$ref"] as? String)?.split(separator: "/").last.map(String.init)
                #expect((name.map { shared[$0] ?? ["content": $0] } ?? answer)["content"] == nil, "\(path) \(status)")
            }
        }
        #expect(looked > 70)
    }

    @Test func theCodesOfEnhancedErrorsAreThoseOfTheTable() throws {
        let components = try #require(document["components"] as? [String: Any])
        let schemas = try #require(components["schemas"] as? [String: [String: Any]])
        let codes = try #require(schemas["EnhancedErrorCode"]?["enum"] as? [String])
        #expect(Set(codes) == Set(ErrorTable.rows.map(\.code)))
        let others = try #require(schemas["AutoSignInErrorCode"]?["enum"] as? [String])
        #expect(Set(others) == Set(AutoSignInErrors.rows.map(\.code)))
        let successor = try #require(schemas["V2ErrorCode"]?["enum"] as? [String])
        #expect(Set(successor) == Set(V2Errors.rows.map(\.code)))
        let tokens = try #require(schemas["SsoErrorCode"]?["enum"] as? [String])
        #expect(Set(tokens) == Set(SingleSignOnErrors.rows.map(\.code)))
    }

    @Test func everyOperationHasAnIdOfItsOwnAndAnswers() throws {
        let operations = paths.values.flatMap { item in item.filter { Self.methods.contains($0.key) }.values.compactMap { $0 as? [String: Any] } }
        let ids = operations.compactMap { $0["operationId"] as? String }
        #expect(ids.count == operations.count && Set(ids).count == ids.count)
        for operation in operations { #expect((operation["responses"] as? [String: Any])?.isEmpty == false) }
    }

    /// `Tests/Cluster/OpenApi` compares the examples with their schemas, and with what a cluster answers.
    @Test("each operation that answers with more than a page or a file has an example, unless it is an alias")
    func answersHaveExamples() throws {
        let content = try String(contentsOfFile: TestGateway.pages + "/openapi.json", encoding: .utf8)
        let description = try ApiDescription(parsing: content)
        var shown = 0
        for operation in description.operations {
            let good = (operation.node["responses"]?.members ?? []).filter { $0.name.hasPrefix("2") }.map { description.resolved($0.value) }
            let media = good.flatMap { $0["content"]?.members ?? [] }
            let has = media.contains { $0.value["example"] != nil }
            if operation.node["x-alias-of"] != nil { #expect(description.original(of: operation) != nil, "\(operation.id)") }
            let isFile = ["getDescription", "getWebSdk", "getAsset"].contains(operation.id)
            let isPage = media.allSatisfy { $0.name == "text/html" } || good.contains { $0["content"] == nil }
            guard operation.node["x-alias-of"] == nil, !isFile, !isPage else { continue }
            shown += 1
            #expect(has, "\(operation.id) has no example of its answer: let Tests/Cluster/OpenApi/record call it")
        }
        #expect(shown > 130)
    }

    @Test func isServedWithAValidator() async throws {
        let gateway = TestGateway()
        let full = try await gateway.get("/openapi.json", [:])
        #expect(full.status == 200 && full.headers[.contentType] == "application/json; charset=utf-8")
        #expect(full.json["openapi"] as? String == "3.1.0")
        let tag = try #require(full.headers[.eTag])
        for sent in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let again = try await gateway.get("/openapi.json", [.ifNoneMatch: sent])
            #expect(again.status == 304 && again.text.isEmpty && again.headers[.eTag] == tag, "\(sent)")
        }
        #expect(try await gateway.get("/openapi.json", [.ifNoneMatch: "\"other\""]).status == 200)
        #expect(try await gateway.send(.post, "/openapi.json", [:]).status == 405)
    }
}
