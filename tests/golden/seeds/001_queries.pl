?- role(Player).

?- findall(Role, role(Role), Roles).
