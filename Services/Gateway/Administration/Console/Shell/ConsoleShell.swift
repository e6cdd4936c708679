internal import Contracts
internal import GatewayEdge

/// What every page shows around its content.
struct ConsoleShell {
    let title: String
    let place: ConsolePlace
    let visitor: Visitor
    /// Of the draft.
    let changes: Int
    let admin: AdministrationSettings

    var content: [String: Any] {
        var content: [String: Any] = [
            "title": title, "token": visitor.formToken.text, "who": visitor.administrator.name, "role": visitor.administrator.role.word,
            "places": ConsolePlace.listed.map { ["placeName": $0.name, "placeAddress": $0.address, "isHere": $0 == place] as [String: Any] },
            "mayEdit": visitor.mayEdit, "isOperator": visitor.isOperator, "sessionsAddress": ConsolePlace.sessions.address,
        ]
        if !admin.clusters.isEmpty {
            content["selector"] = [
                "clusterName": admin.clusterName,
                "otherClusters": admin.clusters.map { ["otherName": $0.name, "otherAddress": $0.console] },
            ]
        }
        if changes > 0, place != .draft {
            content["unpushed"] = [
                "unpushedText": changes == 1 ? "1 change is not live yet." : "\(changes) changes are not live yet.",
                "reviewAddress": ConsolePlace.draft.address,
            ]
        }
        return content
    }
}

extension AdministratorRole {
    /// The word of the API for it.
    var word: String {
        switch self {
        case .viewer: "viewer"
        case .editor: "editor"
        case .operator: "operator"
        case .proxy: "proxy"
        case .unknown, .unrecognized: "unknown"
        }
    }
}
