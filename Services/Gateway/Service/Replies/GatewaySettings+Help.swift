extension GatewaySettings {
    /// `helpUrl` of an error code.
    func help(_ code: String) -> String { "\(publicOrigin)/help/errors#\(code)" }
}
