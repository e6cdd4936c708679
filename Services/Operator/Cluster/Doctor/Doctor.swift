internal import Clocks
internal import CommandKit
internal import Foundation
internal import TextEncodings

/// Examines a local cluster: what is there of it, whether it runs or not. It changes nothing.
struct Doctor: Sendable {
    let home: ClusterHome
    let ports: PortPlan
    /// The folder of the programs, where the cluster does not say from which it runs.
    let binaries: URL
    /// Nil: none runs.
    var cluster: ClusterFile?
    /// `cluster.json` cannot be read for this reason.
    var damage: String?
    var now = SystemClock().now()
    /// Programs may take this long to adopt a catalogue that has just been pushed.
    var patience: Duration = .seconds(2)

    func diagnosis() async throws -> Diagnosis {
        var findings = home(cluster) + settings() + signIns() + keys() + certificates() + clock() + disk()
        if let cluster {
            let status = try await StatusReader.read(home, cluster)
            findings += ports(of: cluster, status) + programs(status) + catalogueFile() + (try await catalogueVersions(status, cluster))
            findings += await openSecrets(cluster)
            findings += await liveCatalogue(cluster)
            findings += await endedStatements(cluster)
            findings += await peers(cluster)
        } else {
            findings +=
                freePorts() + [damage.map { .wrong(.programs, $0, advice: "then ./Services/up starts a cluster anew") } ?? Self.noCluster(home)]
            findings += catalogueFile()
        }
        return Diagnosis(home: home.root.path, findings: findings)
    }

    private static func noCluster(_ home: ClusterHome) -> Finding {
        .note(.programs, "no cluster runs in \(home.root.path)", advice: "./Services/up starts one; BOXOFFICE_HOME names another")
    }

    var isMade: Bool { FileManager.default.fileExists(atPath: home.root.path) }

    /// Programs of this cluster that have settings of their own here.
    var services: [ClusterService] {
        let all = ClusterService.allCases
        guard let cluster else { return all }
        let others = Set(cluster.replacements.map(\.service))
        return all.filter { service in
            guard service != .sandbox else { return cluster.sandbox.pid != 0 }
            return cluster.services[service.rawValue] != nil && !others.contains(service) && cluster.doubles?.contains(service.rawValue) != true
        }
    }

    /// The folder and what in it only its owner may read.
    private func home(_ cluster: ClusterFile?) -> [Finding] {
        guard isMade else {
            return [.note(.home, "\(home.root.path) is not there yet", advice: "./Services/up makes it; BOXOFFICE_HOME names another")]
        }
        var findings: [Finding] = []
        for folder in [home.pki, home.data, home.logs, home.settings] {
            guard let mode = FileMode(folder.path) else {
                findings.append(.note(.home, "there is no folder \(folder.path)", advice: "./Services/up makes it"))
                continue
            }
            if mode.isOpen { findings.append(.wrong(.home, "others may enter \(folder.path) (\(mode))", advice: "chmod 700 \(folder.path)")) }
            if access(folder.path, R_OK | W_OK | X_OK) != 0 {
                findings.append(
                    .wrong(
                        .home, "this user may not write in \(folder.path)", advice: "run the cluster as its owner, or give it to this user (chown)"))
            }
        }
        if let mode = FileMode(home.clusterFile.path), mode.isOpen {
            let path = home.clusterFile.path
            findings.append(.wrong(.home, "others may read \(path), which holds the admin token (\(mode))", advice: "chmod 600 \(path)"))
        }
        return findings.isEmpty ? [.fine(.home, "\(home.root.path) is this user's alone")] : findings
    }
}

/// The permissions of a file.
struct FileMode: CustomStringConvertible {
    private let bits: UInt32

    /// - Returns: Nil when it is not there.
    init?(_ path: String) {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        bits = UInt32(facts.st_mode) & 0o777
    }

    /// Others than its owner may do something with it.
    var isOpen: Bool { bits & 0o077 != 0 }
    /// Others than its owner and its group may.
    var isOpenToAll: Bool { bits & 0o007 != 0 }
    var description: String { "mode \(String(bits, radix: 8))" }
}

extension Doctor {
    /// Checks by the settings of all programs that sign-ins begin at the host where their answers come: a cookie belongs to one host.
    /// Each program can judge its own settings alone.
    func signIns() -> [Finding] {
        guard isMade, let gateway = ownSettings(.gateway), let home = gateway["publicOrigin"] as? String else { return [] }
        let origin = gateway["signInOrigin"] as? String ?? home
        let places: [(service: ClusterService, key: String)] = [
            (.authentication, "acsURL"), (.authentication, "oauthCallbackURL"), (.autosignin, "callbackURL"),
        ]
        var findings = places.compactMap { service, key -> Finding? in
            guard let address = ownSettings(service)?[key] as? String, Self.host(address) != Self.host(origin) else { return nil }
            return .wrong(
                .settings, "\(service.rawValue).\(key) brings people back to \(address), and sign-ins begin at \(origin): their cookies stay there",
                advice: "set gateway.signInOrigin to the origin of \(key), or \(key) to an address at \(origin), if MVPDs and Apple have it so")
        }
        // Where the gateway's own pages end a sign-in.
        let names = gateway["hosts"] as? [[String: Any]] ?? []
        let entry = names.first { ($0["name"] as? String)?.lowercased() == Self.host(origin) }
        let end = entry.map { $0["origin"] as? String ?? "https://\(Self.host(origin))" } ?? home
        if let allowed = ownSettings(.authentication)?["activationOrigins"] as? [String],
            !allowed.contains(where: { $0.lowercased() == end.lowercased() })
        {
            findings.append(
                .wrong(
                    .settings, "authentication.activationOrigins lacks \(end), where sign-ins of the gateway's own pages end",
                    advice: "add it; Services/Authentication/README.md has the settings"))
        }
        return findings
    }

    /// The object of the service itself; `nil`: they are not here, or cannot be read, which others tell.
    func ownSettings(_ service: ClusterService) -> [String: Any]? {
        guard services.contains(service), let content = FileManager.default.contents(atPath: home.settings(of: service).path),
            let settings = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        else { return nil }
        return settings[service.rawValue] as? [String: Any]
    }

    private static func host(_ address: String) -> String { URL(string: address)?.host?.lowercased() ?? "" }
}

extension Doctor {
    /// Settings, as the programs themselves judge them.
    func settings() -> [Finding] {
        guard isMade else { return [] }
        var findings: [Finding] = []
        var checked = 0
        for service in services {
            let file = home.settings(of: service)
            guard FileManager.default.fileExists(atPath: file.path) else {
                findings.append(
                    cluster == nil
                        ? .note(.settings, "\(file.path) is not there yet", advice: "./Services/up writes it")
                        : .wrong(.settings, "\(file.path) is gone; \(service.rawValue) would not start again", advice: "./Services/up writes it anew")
                )
                continue
            }
            guard let program = program(of: service) else {
                findings.append(
                    .note(.settings, "\(service.rawValue) is not built, so nobody can read its settings", advice: "./Services/up builds it"))
                continue
            }
            let complaints: [String]
            do {
                complaints = try program.complaints(of: file.path, environment: service.environment)
            } catch {
                complaints = [PlainReason.of(error)]
            }
            checked += 1
            guard !complaints.isEmpty else { continue }
            findings.append(
                .wrong(
                    .settings, complaints.joined(separator: "\n"),
                    advice: "correct \(file.path), then run ./Services/up; Services/\(service.folder)/README.md has the settings"))
        }
        return findings.isEmpty
            ? [.fine(.settings, "\(checked == 1 ? "one program accepts its" : "\(checked) programs accept their") settings in \(home.settings.path)")]
            : findings
    }

    private func program(of service: ClusterService) -> ProgramFile? {
        let folder = cluster?.program(of: service).map { URL(fileURLWithPath: $0.path).deletingLastPathComponent() } ?? binaries
        return try? ProgramFile(service, in: folder)
    }

    /// Files that settings name, beside those of the local PKI: absolute paths of files that are there.
    var namedFiles: Set<String> {
        var found: Set<String> = []
        func add(_ value: Any) {
            switch value {
            case let object as [String: Any]: object.values.forEach(add)
            case let list as [Any]: list.forEach(add)
            case let text as String where text.hasPrefix("/"):
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: text, isDirectory: &isFolder), !isFolder.boolValue { found.insert(text) }
            default: break
            }
        }
        for service in services {
            guard let content = FileManager.default.contents(atPath: home.settings(of: service).path),
                let settings = try? JSONSerialization.jsonObject(with: content)
            else { continue }
            add(settings)
        }
        return found
    }
}

extension ProgramFile {
    /// The program's complaints about a settings file.
    /// - Returns: Its lines; none: nothing is wrong with it.
    /// - Throws: `CommandFailure` when the program cannot be started.
    func complaints(of settings: String, environment: [String: String]) throws -> [String] {
        let check = try Subprocess.run(path, ["--config", settings, "--check-config"], environment: environment)
        guard check.status != 0 else { return [] }
        let lines = check.error.split(separator: "\n").map(String.init)
        let name = URL(fileURLWithPath: path).lastPathComponent
        return lines.isEmpty ? ["\(settings): \(name) --check-config ended with \(check.status)"] : lines
    }
}

extension Doctor {
    /// The parts of the live catalogue that may stay, and that somebody should change. A cluster that does not answer is told of elsewhere.
    func liveCatalogue(_ cluster: ClusterFile) async -> [Finding] {
        guard let mvpds = await entries("mvpds", cluster), let requestors = await entries("requestors", cluster) else { return [] }
        return Self.findings(mvpds: mvpds, requestors: requestors)
    }

    static func findings(mvpds: [[String: Any]], requestors: [[String: Any]]) -> [Finding] {
        let shared = mvpds.filter { ($0["oauth"] as? [String: Any])?["callback"] as? String == "shared" }.compactMap { $0["id"] as? String }
        let unconfirmed = requestors.filter { requestor in
            guard let upstream = requestor["upstream"] as? [String: Any], requestor["confirmsSignIn"] as? Bool == true else { return false }
            return (upstream["returnOrigin"] as? String ?? "").isEmpty
        }.compactMap { $0["id"] as? String }
        var findings: [Finding] = []
        if !shared.isEmpty {
            findings.append(
                .note(
                    .catalogue, "MVPDs share a callback: \(shared.joined(separator: ", ")); a hostile one may have people sign in for others",
                    advice: "register each one's own address, then oauth.callback 'own'; Shared/Documents/Operations/ConnectAnMvpd.md"))
        }
        let elsewhere = mvpds.filter { mvpd in
            guard let oauth = mvpd["oauth"] as? [String: Any], !(oauth["logoutUrl"] as? String ?? "").isEmpty else { return false }
            return oauth["logoutReturn"] as? String != "own"
        }.compactMap { $0["id"] as? String }
        if !elsewhere.isEmpty {
            findings.append(
                .note(
                    .catalogue,
                    "logouts at MVPDs send browsers straight to apps: \(elsewhere.joined(separator: ", ")); providers of OpenID that know no such address ask the person, or keep the session",
                    advice: "register our address after a logout there, then oauth.logoutReturn 'own'; Shared/Documents/Operations/ConnectAnMvpd.md"))
        }
        if !unconfirmed.isEmpty {
            findings.append(
                .note(
                    .catalogue, "sign-ins at upstreams are not confirmed, though confirmsSignIn is on: \(unconfirmed.joined(separator: ", "))",
                    advice: "give the requestor a returnOrigin; Shared/Documents/SECURITY.md"))
        }
        return findings
    }

    /// Software statements that ended lately because another programmer has their application's id (decision 0090).
    func endedStatements(_ cluster: ClusterFile) async -> [Finding] {
        let answer = try? await HTTPExchange.once(trusting: cluster.authority) {
            try await $0.send(
                "GET", "\(cluster.administration)/admin/v1/audit?size=200", headers: [("Authorization", "Bearer \(cluster.adminToken)")])
        }
        guard let answer, answer.status == 200 else { return [] }
        return Self.endedStatements(answer.object, now: now)
    }

    /// - Parameter page: As `GET /admin/v1/audit` answers it.
    static func endedStatements(_ page: [String: Any], now: Timestamp) -> [Finding] {
        let since = (now - .seconds(7 * 86_400)).milliseconds
        let texts = (page["records"] as? [[String: Any]] ?? []).filter { record in
            record["action"] as? String == "statements_revoked" && record["author"] as? String == "time"
                && (record["createdAt"] as? NSNumber).map { $0.int64Value >= since } == true
        }.compactMap { $0["text"] as? String }
        return texts.map {
            .note(
                .catalogue, $0,
                advice: "apps with these statements register no more: give their application another id, and its new statement")
        }
    }

    /// All entries of a section, as an administrator without a draft of his own sees them; `nil`: nobody can tell.
    private func entries(_ section: String, _ cluster: ClusterFile) async -> [[String: Any]]? {
        var found: [[String: Any]] = []
        for page in 1...50 {
            let address = "\(cluster.administration)/admin/v1/\(section)?size=200&page=\(page)"
            let answer = try? await HTTPExchange.once(trusting: cluster.authority) { exchange in
                try await exchange.send("GET", address, headers: [("Authorization", "Bearer \(cluster.adminToken)")])
            }
            guard let answer, answer.status == 200, let items = answer.object["items"] as? [[String: Any]] else { return nil }
            found += items.compactMap { $0["entity"] as? [String: Any] }
            if items.count < 200 { break }
        }
        return found
    }
}
