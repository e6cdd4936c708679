/// The object `gateway.admin`: where, and under which names, the gateway is administered.
public struct AdministrationSettings: Sendable {
    /// `address:port`; port 0: any free one. Plain HTTP unless there is a certificate, and then a loopback address only.
    public var listen: String
    /// Host names under which browsers and tools reach it, beside `localhost` and addresses written as numbers; without a port.
    public var hosts: [String]
    /// PEM, for HTTPS: the certificate and those between it and a root, in that order. Relative to the settings file.
    public var certificate: String?
    /// PEM, readable by the gateway alone.
    public var key: String?
    /// Administrators sign in beside their tokens here; `nil`: nowhere.
    public var openIDConnect: OpenIDSettings?
    /// The console's head calls this cluster in this way.
    public var clusterName: String
    /// Other clusters, to whose consoles the head leads.
    public var clusters: [OtherCluster]
    /// False: nobody has written it, so that another program at its port takes nothing but administration away.
    public internal(set) var isGiven: Bool

    /// - Parameter listen: Port 8081 is where a cluster without a port base has it.
    public init(
        listen: String = AdministrationSettings.usual, hosts: [String] = [], certificate: String? = nil, key: String? = nil,
        openIDConnect: OpenIDSettings? = nil, clusterName: String = "this cluster", clusters: [OtherCluster] = [], isGiven: Bool = false
    ) {
        self.listen = listen
        self.hosts = hosts
        self.certificate = certificate
        self.key = key
        self.openIDConnect = openIDConnect
        self.clusterName = clusterName
        self.clusters = clusters
        self.isGiven = isGiven
    }

    /// Administration is here without a word in the settings.
    public static let usual = "127.0.0.1:8081"

    /// Address and port of `listen`; `nil` when it is not of that form.
    public var endpoint: (address: String, port: Int)? { GatewaySettings.endpoint(of: listen) }

    /// Names without end would be compared with each request.
    private static let mostHosts = 64

    /// The first problem: key below `admin` and text.
    /// - Parameter allowsPlainHTTP: At another address than loopback.
    func problem(allowsPlainHTTP: Bool) -> (key: String, text: String)? {
        guard let endpoint else { return ("listen", "must be address:port, for example \(Self.usual)") }
        guard (certificate == nil) == (key == nil) else { return ("certificate", "and key go together: give both, or neither for plain HTTP") }
        guard certificate != nil || allowsPlainHTTP || GatewaySettings.isLoopback(endpoint.address) else {
            return ("listen", "serves plain HTTP, so it must be a loopback address; give certificate and key for others")
        }
        guard hosts.count <= Self.mostHosts else { return ("hosts", "must be at most \(Self.mostHosts) names") }
        if let problem = openIDConnect?.problem { return ("openIDConnect.\(problem.key)", problem.text) }
        guard (1...60).contains(clusterName.count) else { return ("clusterName", "must have 1 to 60 characters") }
        guard clusters.count <= OtherCluster.most else { return ("clusters", "must be at most \(OtherCluster.most)") }
        for cluster in clusters { if let problem = cluster.problem { return ("clusters", problem) } }
        for host in hosts {
            guard let origin = WebOrigin("https://" + host), origin.port == nil, origin.host == host.lowercased() else {
                return ("hosts", "must be host names without scheme, port and path, for example admin.tv.example")
            }
        }
        return nil
    }
}

extension AdministrationSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case listen, hosts, certificate, key, openIDConnect, clusterName, clusters
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            listen: try container.decodeIfPresent(String.self, forKey: .listen) ?? Self.usual,
            hosts: try container.decodeIfPresent([String].self, forKey: .hosts) ?? [],
            certificate: try container.decodeIfPresent(String.self, forKey: .certificate),
            key: try container.decodeIfPresent(String.self, forKey: .key),
            openIDConnect: try container.decodeIfPresent(OpenIDSettings.self, forKey: .openIDConnect),
            clusterName: try container.decodeIfPresent(String.self, forKey: .clusterName) ?? "this cluster",
            clusters: try container.decodeIfPresent([OtherCluster].self, forKey: .clusters) ?? [], isGiven: true)
    }
}

/// An entry of `gateway.admin.clusters`: another cluster, to which the console's head leads.
public struct OtherCluster: Decodable, Sendable {
    /// 1 to 60 characters.
    public let name: String
    /// The address of its console; HTTPS, except at loopback.
    public let console: String

    /// The number that the head lists.
    static let most = 20

    public init(name: String, console: String) {
        self.name = name
        self.console = console
    }

    /// The problem of its form.
    var problem: String? {
        guard (1...60).contains(name.count) else { return "must have names of 1 to 60 characters" }
        guard OpenIDSettings.isSafe(console) else {
            return "must give '\(name)' the address of a console, https://host[:port]/console; http is for loopback alone"
        }
        return nil
    }
}
