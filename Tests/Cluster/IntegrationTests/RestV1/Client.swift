@testable import ClusterCommands
@testable import CommandKit
import Foundation
import Testing

/// A registered client (rest-v1 §3.1).
struct Client: Sendable {
    let id: String
    let secret: String

    /// The software statement of an application of the demo catalogue.
    static func statement(_ application: String) throws -> String {
        let file = try #require(try ClusterFile.read(try TestCluster.running().home))
        return try #require(file.softwareStatements[application])
    }

    static func register(_ application: String) async throws -> Client {
        try await register(statement: try statement(application))
    }

    static func register(statement: String) async throws -> Client {
        let answer = try await TestCluster.running().send(.json("/o/client/register", ["software_statement": statement]))
        try #require(answer.status == 201, "\(answer.text)")
        return try client(in: answer)
    }

    /// Asks until the statement's application has come to the service that registers clients.
    static func registerLater(statement: String) async throws -> Client {
        var answer: HTTPAnswer?
        try await Condition.wait("the statement registers") {
            answer = try await TestCluster.running().send(.json("/o/client/register", ["software_statement": statement]))
            return answer?.status == 201
        }
        return try client(in: #require(answer))
    }

    private static func client(in answer: HTTPAnswer) throws -> Client {
        Client(id: try #require(answer.object["client_id"] as? String), secret: try #require(answer.object["client_secret"] as? String))
    }

    var fields: [(String, String)] { [("client_id", id), ("client_secret", secret), ("grant_type", "client_credentials")] }

    func accessToken() async throws -> String {
        let answer = try await TestCluster.running().send(.form("/o/client/token", fields))
        try #require(answer.status == 201, "\(answer.text)")
        return try #require(answer.object["access_token"] as? String)
    }
}
