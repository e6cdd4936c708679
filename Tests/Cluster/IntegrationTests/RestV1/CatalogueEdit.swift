@testable import ClusterCommands
@testable import CommandKit
@testable import WorkshopCommands
import Foundation
import Testing

/// The catalogue's file of the running cluster, as an operator edits it.
struct CatalogueEdit {
    private let original: [String: Any]

    init() throws {
        let content = try Data(contentsOf: try TestCluster.running().home.catalogue)
        original = try #require(try JSONSerialization.jsonObject(with: content) as? [String: Any])
    }

    /// Puts members into the authorization endpoint of an MVPD.
    func set(authorizationOf mvpd: String, _ members: [String: Any]) throws { try set(endpoint: "authorization", of: mvpd, members) }

    /// Puts members into the SAML endpoint of an MVPD.
    func set(samlOf mvpd: String, _ members: [String: Any]) throws { try set(endpoint: "saml", of: mvpd, members) }

    private func set(endpoint name: String, of mvpd: String, _ members: [String: Any]) throws {
        let mvpds = try #require(original["mvpds"] as? [[String: Any]]).map { entry in
            guard entry["id"] as? String == mvpd else { return entry }
            let endpoint = (entry[name] as? [String: Any] ?? [:]).merging(members) { $1 }
            return entry.merging([name: endpoint]) { $1 }
        }
        try write(original.merging(["mvpds": mvpds]) { $1 })
    }

    /// Puts members into an integration.
    func set(integrationOf requestor: String, with mvpd: String, _ members: [String: Any]) throws {
        try set(members, in: "integrations") { $0["requestor"] as? String == requestor && $0["mvpd"] as? String == mvpd }
    }

    /// Puts members into a requestor.
    func set(requestor: String, _ members: [String: Any]) throws {
        try set(members, in: "requestors") { $0["id"] as? String == requestor }
    }

    /// Puts members into an application.
    func set(application: String, _ members: [String: Any]) throws {
        try set(members, in: "applications") { $0["id"] as? String == application }
    }

    /// Puts members into a programmer.
    func set(programmer: String, _ members: [String: Any]) throws {
        try set(members, in: "programmers") { $0["id"] as? String == programmer }
    }

    private func set(_ members: [String: Any], in section: String, where isMeant: ([String: Any]) -> Bool) throws {
        let entries = try #require(original[section] as? [[String: Any]]).map { isMeant($0) ? $0.merging(members) { $1 } : $0 }
        try write(original.merging([section: entries]) { $1 })
    }

    /// Waits until every program works with the file as it is now.
    /// - Parameter version: The catalogue's before the file was written.
    static func wait(after version: Int) async throws {
        let cluster = try TestCluster.running()
        let file = try #require(try ClusterFile.read(cluster.home))
        let reader = StatusReader(home: cluster.home, cluster: file, exchange: cluster.exchange)
        try await Condition.wait("the file is taken in") {
            let versions = await reader.status().programs.compactMap(\.catalogueVersion)
            return !versions.isEmpty && versions.allSatisfy { $0 > version }
        }
    }

    /// Takes back all changes.
    func undo() throws { try write(original) }

    /// Adds a TempPass to a requestor.
    func add(tempPass id: String, _ terms: [String: Any], at requestor: String) throws {
        let mvpds = try #require(original["mvpds"] as? [[String: Any]]) + [["id": id, "displayName": id, "tempPass": terms]]
        let integrations = try #require(original["integrations"] as? [[String: Any]]) + [["requestor": requestor, "mvpd": id]]
        try write(original.merging(["mvpds": mvpds, "integrations": integrations]) { $1 })
    }

    private func write(_ catalogue: [String: Any]) throws {
        try JSONSerialization.data(withJSONObject: catalogue).write(to: try TestCluster.running().home.catalogue, options: .atomic)
    }
}
