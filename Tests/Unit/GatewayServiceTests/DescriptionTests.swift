internal import Doubles
internal import Foundation
@testable import GatewayService
internal import Hummingbird
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

    @Test func everyRouteAndMethodIsDescribedAndNothingElse() throws {
        // Pages of the console are for people: Shared/Documents/Operations/Console.md describes them.
        let routes = try TestGateway().routes().filter { if case .console = $0.audience { false } else { true } }
        var real: Set<String> = []
        for route in routes {
            let names = route.handlers.keys.map { $0.rawValue.lowercased() } + ["options"]
            // The description has no word for a capture of several segments.
            let path = route.path.replacingOccurrences(of: "*}", with: "}")
            real.formUnion(names.filter(Self.methods.contains).map { "\($0) \(path)" })
        }
        var described: Set<String> = []
        for (path, item) in paths { described.formUnion(item.keys.filter(Self.methods.contains).map { "\($0) \(path)" }) }
        #expect(real.subtracting(described).sorted() == [], "routes that the description does not have")
        #expect(described.subtracting(real).sorted() == [], "described, but there is no such route")
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
