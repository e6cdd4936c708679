/// An entry of `gateway.admin.clusters`: another cluster, to which the console's head leads.
public struct OtherCluster: Decodable, Sendable {
    /// 1 to 60 characters.
    public let name: String
    /// The address of its console; HTTPS, except at loopback.
    public let console: String

    /// How many the head lists.
    static let most = 20

    public init(name: String, console: String) {
        self.name = name
        self.console = console
    }

    /// What is wrong with its form.
    var problem: String? {
        guard (1...60).contains(name.count) else { return "must have names of 1 to 60 characters" }
        guard OpenIDSettings.isSafe(console) else {
            return "must give '\(name)' the address of a console, https://host[:port]/console; http is for loopback alone"
        }
        return nil
    }
}
