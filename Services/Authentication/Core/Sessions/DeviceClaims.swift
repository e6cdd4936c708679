/// The deprecated `appId` and `deviceUser`: a later call that names another one finds no session (rest-v1 §2.5, §5). A broadcaster's app names its
/// `appId` when it preauthorizes and not when it asks for a code, so one that the code has not is not compared (clients #32).
struct DeviceClaims: Hashable, Sendable {
    var appID = ""
    var deviceUser = ""

    /// True when a call with these claims may see what was made with the `original` ones; an absent claim is not compared.
    func agree(with original: DeviceClaims) -> Bool {
        (appID.isEmpty || original.appID.isEmpty || appID == original.appID) && (deviceUser.isEmpty || deviceUser == original.deviceUser)
    }
}
