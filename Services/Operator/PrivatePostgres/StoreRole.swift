/// A service's role and database at a server: the role owns the database, and has the bounds that the server keeps for the service.
public struct StoreRole: Sendable {
    /// The service's name; the role and the database have it too.
    public let name: String
    public let password: String

    /// With a new password.
    public init(_ name: String) {
        self.name = name
        var generator = SystemRandomNumberGenerator()
        password = (0..<4).map { _ in String(generator.next(), radix: 36) }.joined()
    }

    /// - Parameter password: A password of letters, digits and '-' alone.
    public init(_ name: String, password: String) { (self.name, self.password) = (name, password) }

    /// The queries for the existence of the role and of the database; a row for each.
    public static func existence(of name: String) -> (role: String, database: String) {
        ("SELECT 1 FROM pg_roles WHERE rolname = '\(name)'", "SELECT 1 FROM pg_database WHERE datname = '\(name)'")
    }

    /// Makes the role.
    public var creation: String {
        """
        CREATE ROLE "\(name)" LOGIN PASSWORD '\(password)';
        ALTER ROLE "\(name)" SET statement_timeout = '5s'; ALTER ROLE "\(name)" SET lock_timeout = '1s';
        ALTER ROLE "\(name)" SET idle_in_transaction_session_timeout = '10s'
        """
    }

    /// Lets the role see which standbys the server has, so that one that is missing is told. A user who makes roles may lack the right to give this
    /// one; the service works without.
    public var grant: String { "GRANT pg_read_all_stats TO \"\(name)\"" }

    /// Gives the role another password.
    public var change: String { "ALTER ROLE \"\(name)\" PASSWORD '\(password)'" }

    /// Makes the database; no transaction.
    public var database: String { "CREATE DATABASE \"\(name)\" OWNER \"\(name)\" ENCODING 'UTF8' TEMPLATE template0" }
}
