import Cryptography
import Foundation
import Testing

@testable import ClusterCommands
@testable import CommandKit

@Suite struct ContainerTests {
    private static let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL

    private static func written(_ network: ContainerNetwork = ContainerNetwork(), _ database: HostDatabase? = nil) throws -> (
        folder: URL, pki: LocalPki
    ) {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-containers-\(UUID().uuidString)")
        let pki = LocalPki(folder: root.appendingPathComponent("keys"))
        try FileManager.default.createDirectory(at: pki.folder, withIntermediateDirectories: true)
        try pki.ensureQuickly()
        if !network.hosts.isEmpty { try pki.ensureSharedKeys() }
        if let database { try pki.ensureDatabase(database) }
        let folder = root.appendingPathComponent("settings")
        try ContainerSettings(network: network, pki: pki, checkout: checkout, folder: folder, database: database).write()
        return (folder, pki)
    }

    private static func text(_ folder: URL, _ file: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
    }

    @Test("Each program finds its peers by name and has its own keys, and no other's")
    func givesEachProgramItsOwn() throws {
        var network = ContainerNetwork()
        network.gateway = "http://localhost:31080"
        let (folder, pki) = try Self.written(network)
        for service in ClusterService.allCases {
            let settings = try Self.text(folder, "\(service.rawValue)/config.json")
            #expect(!settings.contains("127.0.0.1:"), "\(service.rawValue) has an address of a local cluster")
            let given = try Set(FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("\(service.rawValue)/pki").path))
            #expect(!given.contains("ca.key"))
            let foreign = LocalPki.peers.filter { $0 != service.rawValue }.map { "\($0).key" }
            #expect(given.isDisjoint(with: foreign))
        }
        let authorization = try Self.text(folder, "authorization/config.json")
        #expect(authorization.contains("\"authentication:7002\"") && authorization.contains("\"config:7001\""))
        let authentication = try Self.text(folder, "authentication/config.json")
        #expect(authentication.contains("http://localhost:31080/sp/saml/SAMLAssertionConsumer"))
        let sandbox = try Self.text(folder, "sandbox/config.json")
        #expect(sandbox.contains("http://gateway:8080/apple/v1/notifications"), "Apple calls the gateway in the network")
        #expect(sandbox.contains("http://localhost:31080/apple/v1/callback"), "a browser comes back to the published address")
        #expect(sandbox.contains("\"serviceURL\" : \"http://sandbox:8090\""), "a signed query names the address that authorization calls")
        let key = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("config/pki/config.key").path)
        #expect(key[.posixPermissions] as? Int == 0o600)
        #expect(try Self.text(folder, "operator/cluster.json").contains(try pki.adminToken()))
    }

    @Test("Each host has all programs with certificates of its own, and finds every copy of its peers")
    func writesAFolderPerHost() throws {
        var network = ContainerNetwork()
        network.hosts = try ["a1=west", "b2"].map(HostPlan.init)
        let (folder, pki) = try Self.written(network)
        let authority = try Certificate(pemFile: pki.path("ca.crt"))
        var keys: Set<String> = []
        for host in ["a1", "b2"] {
            for service in ClusterService.allCases where service != .sandbox {
                let place = folder.appendingPathComponent("\(host)/\(service.rawValue)/pki/\(service.rawValue)").path
                let certificate = try Certificate(pemFile: place + ".crt")
                #expect(certificate.dnsNames == ["\(service.rawValue).boxoffice", "\(service.rawValue).\(host).boxoffice"])
                #expect(certificate.isSigned(by: authority))
                keys.insert(try String(contentsOfFile: place + ".key", encoding: .utf8))
            }
        }
        #expect(keys.count == 10, "no two copies share a key")
        #expect(try Self.text(folder, "a1/authentication/pki/user-id.key") == Self.text(folder, "b2/authentication/pki/user-id.key"))
        let file = folder.appendingPathComponent("a1/authorization/config.json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let peers = try #require(object["peers"] as? [String: [String: Any]])
        #expect(peers["authentication"]?["addresses"] as? [String] == ["a1:7002", "b2:7002"])
        #expect(peers["authentication"]?["name"] as? String == "authentication.boxoffice")
        #expect(object["zone"] as? String == "west")
        #expect(try !Self.text(folder, "b2/authorization/config.json").contains("zone"))
        let entries = try #require(try ClusterFile.read(ClusterHome(root: folder.appendingPathComponent("operator")))).hostEntries
        #expect(entries.filter { $0.copy.service == .authorization }.map(\.entry.address) == ["a1:7003", "b2:7003"])
        #expect(entries.count == 10 && Set(entries.compactMap(\.entry.host)) == ["a1", "b2"])
    }

    @Test("Hosts are names, each once", arguments: [["A1"], ["a1", "a1=west"], ["a1="], ["=west"], ["-a"], ["a b"]])
    func refusesNoHosts(hosts: [String]) {
        let options = ["--folder", "f", "--pki", "p", "--gateway", "https://tv.example"] + hosts.flatMap { ["--host", $0] }
        #expect(throws: (any Error).self) { try SettingsCommand.parse(options) }
    }

    @Test("Hosts have the keys of a role in common, and the database that keeps its store")
    func namesTheDatabase() throws {
        let ca = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).crt")
        try Data("-----BEGIN CERTIFICATE-----\n".utf8).write(to: ca)
        let database = try #require(
            try HostDatabase(hosts: ["db-a:5432", "db-b:5432"], authority: ca.path, requiresStandby: true, copies: 2))
        var network = ContainerNetwork()
        network.hosts = try ["a1", "b2"].map(HostPlan.init)
        let (folder, _) = try Self.written(network, database)
        for host in ["a1", "b2"] {
            let file = folder.appendingPathComponent("\(host)/authentication/config.json")
            let object = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
            let storage = try #require(object["storage"] as? [String: Any])
            #expect(storage["hosts"] as? [String] == ["db-a:5432", "db-b:5432"] && storage["requireStandby"] as? Bool == true)
            #expect((object["authentication"] as? [String: Any])?["secretsKey"] as? String == "pki/authentication-secrets.key")
        }
        for key in ["authentication-secrets.key", "authentication-service-token.key", "postgres-authentication.password", "postgres-ca.crt"] {
            #expect(try Self.text(folder, "a1/authentication/pki/\(key)") == Self.text(folder, "b2/authentication/pki/\(key)"))
        }
        #expect(try Self.text(folder, "a1/config/config.json").contains("catalogue.json"), "one copy brings it")
        #expect(try !Self.text(folder, "b2/config/config.json").contains("catalogue.json"))
        let password = try Self.text(folder, "a1/config/pki/postgres-config.password").trimmingCharacters(in: .newlines)
        let script = try Self.text(folder, "postgres.sql")
        #expect(script.contains(#"CREATE ROLE "config" LOGIN PASSWORD '\#(password)';"#) && script.contains(#"CREATE DATABASE "autosignin""#))
        #expect(script.contains(#"GRANT pg_read_all_stats TO "autosignin";"#))
        let mode = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent("postgres.sql").path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test(
        "A database needs hosts, an authority and a port",
        arguments: [
            ["--store-host", "db-a:5432", "--store-ca", "ca"], ["--host", "a1", "--store-host", "db-a:5432"],
            ["--host", "a1", "--store-host", "db-a", "--store-ca", "ca"], ["--host", "a1", "--store-ca", "ca"], ["--require-standby"],
        ])
    func refusesNoDatabase(options: [String]) {
        let gateway = options.contains("--host") ? ["--gateway", "https://tv.example"] : []
        #expect(throws: (any Error).self) { try SettingsCommand.parse(["--folder", "f", "--pki", "p"] + gateway + options) }
    }

    @Test("Browsers go to the sandbox outside, the services' own calls inside")
    func splitsTheSandboxsAddresses() throws {
        let (folder, _) = try Self.written()
        let catalogue = try Self.text(folder, "config/catalogue.json")
        #expect(!catalogue.contains("${"))
        #expect(catalogue.contains("\"ssoUrl\" : \"http://localhost:8090/saml/NorthCable/sso\""))
        #expect(catalogue.contains("\"url\" : \"http://sandbox:8090/pdp/NorthCable\""))
        #expect(catalogue.contains("\"tokenUrl\" : \"http://sandbox:8090/oauth/OpenFiber/token\""))
        #expect(catalogue.contains("\"authorizeUrl\" : \"http://localhost:8090/oauth/OpenFiber/authorize\""))
    }

    @Test("Cookies are secure behind HTTPS, where the gateway would refuse others")
    func hasSecureCookies() throws {
        var network = ContainerNetwork()
        network.gateway = "https://tv.example"
        #expect(try !Self.text(try Self.written(network).folder, "gateway/config.json").contains("insecureCookies"))
        #expect(try Self.text(try Self.written().folder, "gateway/config.json").contains("insecureCookies"))
    }

    @Test("Written again, nothing changes")
    func isIdempotent() throws {
        let (folder, pki) = try Self.written()
        let file = folder.appendingPathComponent("authentication/config.json").path
        let before = try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int
        #expect(try pki.ensure().isEmpty)
        try ContainerSettings(network: ContainerNetwork(), pki: pki, checkout: Self.checkout, folder: folder).write()
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.systemFileNumber] as? Int == before)
    }

    @Test("Changed settings and a changed catalogue stay as they are, and are named")
    func keepsWhatIsThere() throws {
        let (folder, pki) = try Self.written()
        let settings = folder.appendingPathComponent("gateway/config.json")
        let catalogue = folder.appendingPathComponent("config/catalogue.json")
        for file in [settings, catalogue] { try "{ \"mine\": true }".write(to: file, atomically: true, encoding: .utf8) }
        let kept = try ContainerSettings(network: ContainerNetwork(), pki: pki, checkout: Self.checkout, folder: folder).write()
        #expect(Set(kept.map(\.file)) == [settings.path, catalogue.path])
        #expect(kept.first?.differences.contains { $0.hasPrefix("mine is true, and would be left out") } == true)
        for file in [settings, catalogue] { #expect(try String(contentsOf: file, encoding: .utf8) == "{ \"mine\": true }") }
    }

    @Test("No caller is exempt from the limits by address, and only the named proxy is trusted", arguments: ["", "172.30.0.2"])
    func exemptsNobody(proxy: String) throws {
        let (folder, pki) = try Self.written()
        let file = folder.appendingPathComponent("gateway/config.json")
        try FileManager.default.removeItem(at: file)
        try ContainerSettings(network: ContainerNetwork(), pki: pki, checkout: Self.checkout, folder: folder, trustedProxy: proxy).write()
        let object = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        let own = try #require(object["gateway"] as? [String: Any])
        #expect((own["throttle"] as? [String: Any])?["exempt"] as? [String] == [])
        #expect(own["trustedProxies"] as? [String] == (proxy.isEmpty ? [] : [proxy]))
    }

    @Test("The line of compose.yaml that writes the settings is one that the command takes, whatever is set in the environment or is not")
    func composeLine() throws {
        let compose = try String(contentsOf: Self.checkout.appending(path: "compose.yaml"), encoding: .utf8)
        let switches = compose.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { $0.hasPrefix("- --") }
        let line = switches.map { String($0.dropFirst(2)).replacing(/\$\{[A-Z_]+:-([^}]*)\}/) { $0.output.1 } }
        #expect(line.count >= 8)
        _ = try SettingsCommand.parse(line)
    }

    @Test("A missing key is named")
    func namesAMissingKey() throws {
        let (folder, pki) = try Self.written()
        try FileManager.default.removeItem(atPath: pki.path("user-id.key"))
        let failure = #expect(throws: CommandFailure.self) {
            try ContainerSettings(network: ContainerNetwork(), pki: pki, checkout: Self.checkout, folder: folder).write()
        }
        #expect("\(failure.map(String.init(describing:)) ?? "")".contains("user-id.key"))
    }

    @Test("Requests to an address take the detour that is set for it, and only they")
    func takesDetours() throws {
        let detour = try #require(Detour("localhost:8080:gateway:80"))
        let taken = try #require(detour.applied(to: "http://localhost:8080/activate?code=localhost:8080"))
        #expect(taken.url == "http://gateway:80/activate?code=localhost:8080" && taken.host == "localhost:8080")
        #expect(detour.applied(to: "http://localhost:8081/activate") == nil)
        #expect(detour.applied(to: "http://other:8080/") == nil)
        #expect(detour.applied(to: "https://localhost:8080/") == nil)
        for text in ["", "localhost", "localhost:x:gateway:80", "localhost:80:gateway", ":80:gateway:80", "a:1:b:70000"] {
            #expect(Detour(text) == nil, "\(text)")
        }
    }

    @Test("The Dockerfiles share their first stage, so that it is built once")
    func dockerfilesShareAStage() throws {
        let stages = ["Operator"] + ClusterService.allCases.map(\.folder)
        let first = try Set(
            stages.map { folder in
                let text = try String(contentsOf: Self.checkout.appendingPathComponent("Services/\(folder)/Dockerfile"), encoding: .utf8)
                return try #require(text.components(separatedBy: "\nFROM debian").first)
            })
        #expect(first.count == 1)
    }
}
